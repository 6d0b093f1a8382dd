-- What was asked for, and how it ended.
select job.id, job.params, job.parent, job.due, job.expires, policy.document,
  job.state, job.attempt, job.started, job.finished, job.result
from job join policy on policy.id = job.policy order by job.id
