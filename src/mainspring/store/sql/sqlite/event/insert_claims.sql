-- What is told of jobs that are leased and are still in ready.
insert into event (job, at, cause, source, target, attempt, actor)
select ready.job, max(ready.since, :now), 'claim', 'queued', 'running', ready.attempt + 1, :actor
from json_each(:jobs) as one cross join ready on ready.job = one.value
