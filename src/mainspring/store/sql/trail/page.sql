-- What was changed, newest first, from below a cursor on.
select seq, at, actor, action, subject, before, after from trail
where seq < :below and (cast(:subject as text) is null or subject = :subject)
order by seq desc limit :limit
