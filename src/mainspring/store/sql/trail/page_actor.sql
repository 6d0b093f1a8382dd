-- What was changed by somebody, newest first, from below a cursor on.
select seq, at, actor, action, subject, before, after, request from trail
where seq < :below and actor = :actor
  and (cast(:subject as text) is null or subject = :subject)
  and (cast(:action as text) is null or action = :action)
order by seq desc limit :limit
