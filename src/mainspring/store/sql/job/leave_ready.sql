-- leaves: ready
-- causes: cancel, expire
delete from ready where job = :job returning job, lane, priority, attempt, since
