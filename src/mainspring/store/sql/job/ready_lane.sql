-- Where a job waits that may start, and its task.
select ready.lane, job.task from ready join job on job.id = ready.job where ready.job = :job
