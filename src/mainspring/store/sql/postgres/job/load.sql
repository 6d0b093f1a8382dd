-- What a worker needs to run these jobs. One of a run has the tick that the run was made by.
select id, task, policy, params, expires, coalesce(tick, (select run.tick from run where run.id = job.run)) as tick, run, node,
  item, wants
from job
where id = any(translate(:jobs, '[]', '{}')::bigint[])
