-- The expiry rows of a job that goes.
delete from expiry where job = :job
