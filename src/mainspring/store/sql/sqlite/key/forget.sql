-- The key of a job that has ended.
delete from unique_key where job = :job
