-- What a replay copies.
select task, lane, priority, policy, params, tags, meta, state, uniqueness, tick from job where id = :job
