-- The end of a job was noted.
delete from flight where job = :job
