-- enters: ended
-- causes: succeed
-- Jobs that are still leased, with their results.
update job set state = 'succeeded', attempt = lease.attempt, started = lease.since, finished = max(lease.since, :now),
  worker = lease.worker, result = one.value, failure = null
from json_each(:results) as one cross join lease on lease.job = cast(one.key as integer)
where job.id = lease.job
