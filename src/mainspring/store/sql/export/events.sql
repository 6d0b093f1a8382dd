-- Events behind a cursor, oldest first; asked of one snapshot, so that none comes late.
select seq, job, at, cause, source, target, attempt, actor, detail from event where seq > :after and job > 0 order by seq limit :limit
