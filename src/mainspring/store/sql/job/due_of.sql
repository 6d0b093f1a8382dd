-- When a job was first to run.
select due from job where id = :job
