-- Ended jobs of one state, newest first.
select job_shown.* from job as ended join job_shown on job_shown.id = ended.id
where ended.state = :state and ended.id < :before and ended.id >= :floor
  and (:tasks::json is null or job_shown.task in (select json_array_elements_text(:tasks::json)))
  and (:queue::text is null or job_shown.queue = :queue)
  and (:tag::text is null or tagged(job_shown.tags, :tag, :tag_value))
  and (:since::bigint is null or job_shown.created >= :since)
  and (:until::bigint is null or job_shown.created < :until)
order by ended.id desc limit :limit
