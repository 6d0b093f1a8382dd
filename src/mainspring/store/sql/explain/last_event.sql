-- What happened to a job last.
select seq, job, at, cause, source, target, attempt, actor, detail from event where job = :job order by seq desc limit 1
