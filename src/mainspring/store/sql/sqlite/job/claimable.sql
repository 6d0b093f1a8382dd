-- The first jobs of one lane from a mark on, with what is needed to run them; none under other rules. One writes at a time,
-- so that they stay so until they are moved. One of a run has the tick that the run was made by.
select ready.job, ready.lane, ready.priority, ready.due, ready.attempt, ready.since, null as claim, task, policy, params, expires,
  coalesce(tick, (select run.tick from run where run.id = job.run)) as tick, run, node, item, wants
from ready cross join job on job.id = ready.job
where ready.lane = :lane and (ready.priority, ready.due, ready.job) >= (:from_priority, :from_due, :from_job)
  and (ready.attempt = 0 or ready.job not in (select value from json_each(:held)))
  and :rules = coalesce((select next from counter where name = 'rules'), 0)
order by ready.priority, ready.due, ready.job limit :limit
