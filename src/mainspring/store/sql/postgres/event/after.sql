-- Events behind a cursor, oldest first.
select seq, job, at, cause, source, target, attempt, actor, detail from event
where seq > :after and seq <= :bound and job > 0
  and (:kinds::json is null or target in (select json_array_elements_text(:kinds::json))
    or cause in (select json_array_elements_text(:kinds::json)))
order by seq limit :limit
