-- The attempt rows of a job that goes.
delete from attempt where job = :job
