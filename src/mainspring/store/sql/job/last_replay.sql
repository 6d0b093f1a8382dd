-- The newest job that replays this one.
select id, state from job where replay_of = :job order by id desc limit 1
