-- What a replay copies.
select task, lane, priority, policy, params, tags, meta, state, uniqueness from job where id = :job
