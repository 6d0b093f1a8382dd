-- How many jobs are scheduled or retrying, of those between two numbers.
select count(*) as jobs from due join job on job.id = due.job join lane on lane.id = job.lane
where due.state = :state and due.job < :before and due.job >= :floor
  and (:tasks::json is null or job.task in (select json_array_elements_text(:tasks::json)))
  and (:queue::text is null or lane.queue = :queue)
  and (:tag::text is null or tagged(job.tags, :tag, :tag_value))
  and (:since::bigint is null or job.created >= :since)
  and (:until::bigint is null or job.created < :until)
