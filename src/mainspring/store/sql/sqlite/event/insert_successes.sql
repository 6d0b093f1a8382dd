-- What is told of jobs that succeeded and are still leased.
insert into event (job, at, cause, source, target, attempt, actor)
select lease.job, max(since, :now), 'succeed', 'running', 'succeeded', attempt, :actor
from json_each(:jobs) as one cross join lease on lease.job = one.value
