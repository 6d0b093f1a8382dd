-- Who holds these keys: whether each has been let go, and whether its holder still waits.
select unique_key.task, unique_key.key, unique_key.job,
  job.id is null or job.state is not null or coalesce(unique_key.until <= one.moment, false)
    or (until_claim = 1 and coalesce(ready.attempt, due.attempt, 1) > 0) as released,
  ready.job is not null or due.job is not null as waits
from unnest(:moment::bigint[], :task::text[], :key::text[]) as one (moment, task, key)
join unique_key on unique_key.task = one.task and unique_key.key = one.key
left join job on job.id = unique_key.job
left join ready on ready.job = unique_key.job left join due on due.job = unique_key.job
