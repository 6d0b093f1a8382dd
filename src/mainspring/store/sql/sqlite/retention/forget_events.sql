-- The event rows of a job that goes.
delete from event where job = :job
