-- How many jobs are queued.
select count(*) from ready cross join job on job.id = ready.job join lane on lane.id = job.lane
where true
  and (:tasks is null or job.task in (select value from json_each(:tasks)))
  and (:queue is null or lane.queue = :queue)
  and (:tag is null or json_extract(job.tags, :tag) = :tag_value)
  and (:since is null or job.created >= :since)
  and (:until is null or job.created < :until)
