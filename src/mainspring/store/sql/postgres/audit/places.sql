-- For some jobs: the state of the end, and in how many places each is. A sound job is in exactly one.
select job.id, job.state, due.state,
  (job.state is not null)::int + (ready.job is not null)::int + (due.job is not null)::int + (lease.job is not null)::int,
  ready.job is not null, lease.attempt
from job left join ready on ready.job = job.id left join due on due.job = job.id left join lease on lease.job = job.id
where job.id = any(translate(:jobs, '[]', '{}')::bigint[])
