-- The output of a job that goes.
delete from log where job = :job
