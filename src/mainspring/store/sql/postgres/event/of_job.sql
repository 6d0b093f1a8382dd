-- Events of one job behind a cursor, oldest first. Each waited for the one before, so none comes late.
select seq, job, at, cause, source, target, attempt, actor, detail from event
where job = :job and seq > :after
  and (:kinds::json is null or target in (select json_array_elements_text(:kinds::json))
    or cause in (select json_array_elements_text(:kinds::json)))
order by seq limit :limit
