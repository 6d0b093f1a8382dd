-- What was changed by one action, newest first, from below a cursor on.
select seq, at, actor, action, subject, before, after, request from trail
where seq < :below and action = :action
  and (cast(:subject as text) is null or subject = :subject)
  and (cast(:actor as text) is null or actor = :actor)
order by seq desc limit :limit
