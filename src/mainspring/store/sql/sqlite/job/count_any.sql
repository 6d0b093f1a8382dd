-- How many jobs there are, of those between two numbers.
select count(*) as jobs from job join lane on lane.id = job.lane
where job.id < :before and job.id >= :floor
  and (:tasks is null or job.task in (select value from json_each(:tasks)))
  and (:queue is null or lane.queue = :queue)
  and (:tag is null or exists (
    select 1 from json_each(case when json_valid(job.tags) then job.tags end) where key = :tag and value = :tag_value))
  and (:since is null or job.created >= :since)
  and (:until is null or job.created < :until)
