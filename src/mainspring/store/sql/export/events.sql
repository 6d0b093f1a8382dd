-- Events behind a cursor, oldest first; asked of one snapshot, so that none comes late.
select seq, job, at, cause, source, target, attempt, actor, detail from event where seq > :after order by seq limit :limit
