-- leaves: ready
-- causes: claim
delete from ready where job in (select value from json_each(:jobs))
and :rules = coalesce((select next from counter where name = 'rules'), 0)
returning job, lane, priority, attempt, since
