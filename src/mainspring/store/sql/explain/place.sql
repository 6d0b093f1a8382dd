-- Where a job stands, and by what it may be claimed: that of its lane now, which is another one when it must run alone.
select coalesce(ready.lane, due.lane, lease.lane, job.lane) as lane, ready.priority, ready.due, ready.since, due.at, lease.worker, lease.until,
  lease.cancel_by
from job left join ready on ready.job = job.id left join due on due.job = job.id left join lease on lease.job = job.id
where job.id = :job
