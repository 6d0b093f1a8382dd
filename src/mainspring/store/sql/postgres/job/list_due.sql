-- Scheduled or retrying jobs, newest first: from their place.
select job_shown.* from due join job_shown on job_shown.id = due.job
where due.state = :state and due.job < :before and due.job >= :floor
  and (:tasks::json is null or job_shown.task in (select json_array_elements_text(:tasks::json)))
  and (:queue::text is null or job_shown.queue = :queue)
  and (:tag::text is null or tagged(job_shown.tags, :tag, :tag_value))
  and (:since::bigint is null or job_shown.created >= :since)
  and (:until::bigint is null or job_shown.created < :until)
order by due.job desc limit :limit
