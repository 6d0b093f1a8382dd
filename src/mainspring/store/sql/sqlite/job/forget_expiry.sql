-- The expiry was acted on, or the job has started.
delete from expiry where job = :job
