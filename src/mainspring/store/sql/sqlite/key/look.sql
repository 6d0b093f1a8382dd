-- Who holds a key: whether it has been let go, and whether its holder still waits.
select unique_key.task, unique_key.key, unique_key.job,
  job.id is null or job.state is not null or coalesce(unique_key.until <= :moment, false)
    or (until_claim = 1 and coalesce(ready.attempt, due.attempt, 1) > 0) as released,
  ready.job is not null or due.job is not null as waits
from unique_key left join job on job.id = unique_key.job
left join ready on ready.job = unique_key.job left join due on due.job = unique_key.job
where unique_key.task = :task and unique_key.key = :key
