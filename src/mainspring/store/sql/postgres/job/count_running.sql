-- How many jobs run, of those between two numbers.
select count(*) as jobs from lease join job on job.id = lease.job join lane on lane.id = job.lane
where lease.job < :before and lease.job >= :floor
  and (:tasks::json is null or job.task in (select json_array_elements_text(:tasks::json)))
  and (:queue::text is null or lane.queue = :queue)
  and (:tag::text is null or tagged(job.tags, :tag, :tag_value))
  and (:since::bigint is null or job.created >= :since)
  and (:until::bigint is null or job.created < :until)
