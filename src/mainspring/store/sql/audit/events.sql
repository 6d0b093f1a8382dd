-- All events behind a cursor, oldest first.
select seq, job, at, cause, source, target, attempt, actor, detail from event where seq > :after and job > 0 order by seq
