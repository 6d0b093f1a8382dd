-- The state and attempt of a job, or no row when there is none.
select coalesce(job.state, case when lease.job is not null then 'running' when ready.job is not null then 'queued' else due.state end) as state,
  coalesce(job.attempt, lease.attempt, ready.attempt, due.attempt) as attempt
from job left join lease on lease.job = job.id left join ready on ready.job = job.id left join due on due.job = job.id
where job.id = :job
