-- How many jobs are scheduled or retrying, of those between two numbers.
select count(*) as jobs from due cross join job on job.id = due.job join lane on lane.id = job.lane
where due.state = :state and due.job < :before and due.job >= :floor
  and (:tasks is null or job.task in (select value from json_each(:tasks)))
  and (:queue is null or lane.queue = :queue)
  and (:tag is null or exists (
    select 1 from json_each(case when json_valid(job.tags) then job.tags end) where key = :tag and value = :tag_value))
  and (:since is null or job.created >= :since)
  and (:until is null or job.created < :until)
