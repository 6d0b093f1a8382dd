-- leaves: due
-- causes: cancel, expire
delete from due where job = :job returning job, lane, priority, attempt, since, state
