-- How many jobs run, of those between two numbers.
select count(*) as jobs from lease cross join job on job.id = lease.job join lane on lane.id = job.lane
where lease.job < :before and lease.job >= :floor
  and (:tasks is null or job.task in (select value from json_each(:tasks)))
  and (:queue is null or lane.queue = :queue)
  and (:tag is null or exists (
    select 1 from json_each(case when json_valid(job.tags) then job.tags end) where key = :tag and value = :tag_value))
  and (:since is null or job.created >= :since)
  and (:until is null or job.created < :until)
