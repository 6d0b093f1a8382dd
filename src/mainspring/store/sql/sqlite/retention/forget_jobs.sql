-- A job that goes, last, so that nothing of it is left behind; tells which were still there.
delete from job where id = :job and state is not null returning id, lane, task
