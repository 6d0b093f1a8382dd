-- Events of one job behind a cursor, oldest first.
select seq, job, at, cause, source, target, attempt, actor, detail from event indexed by event_job
where job = :job and seq > :after
  and (:kinds is null or target in (select value from json_each(:kinds)) or cause in (select value from json_each(:kinds)))
order by seq limit :limit
