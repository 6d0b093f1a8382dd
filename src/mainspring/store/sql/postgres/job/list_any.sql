-- Jobs in any state, newest first.
select job_shown.* from job_shown
where id < :before and id >= :floor
  and (:tasks::json is null or job_shown.task in (select json_array_elements_text(:tasks::json)))
  and (:queue::text is null or job_shown.queue = :queue)
  and (:tag::text is null or tagged(job_shown.tags, :tag, :tag_value))
  and (:since::bigint is null or job_shown.created >= :since)
  and (:until::bigint is null or job_shown.created < :until)
order by id desc limit :limit
