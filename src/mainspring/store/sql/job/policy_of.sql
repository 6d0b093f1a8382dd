-- The policy and lane of a job.
select policy.document, job.lane, job.priority from job join policy on policy.id = job.policy where job.id = :job
