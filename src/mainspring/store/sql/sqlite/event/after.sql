-- Events behind a cursor, oldest first.
select seq, job, at, cause, source, target, attempt, actor, detail from event
where seq > :after and seq <= :bound and job > 0
  and (:kinds is null or target in (select value from json_each(:kinds)) or cause in (select value from json_each(:kinds)))
order by seq limit :limit
