-- leaves: ready
-- causes: claim
delete from ready where job = any(translate(:jobs, '[]', '{}')::bigint[])
returning job, lane, priority, attempt, since
