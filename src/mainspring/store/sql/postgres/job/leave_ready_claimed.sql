-- leaves: ready
-- causes: claim
delete from ready where job = any(translate(:jobs, '[]', '{}')::bigint[])
and :rules = coalesce((select next from counter where name = 'rules'), 0)
returning job, lane, priority, attempt, since
