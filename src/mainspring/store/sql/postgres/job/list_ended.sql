-- Ended jobs of one state, newest first. Found by their own rows, and only then shown with all that is theirs. State and
-- number are compared as one, as only their index has them in that order: by the number alone few of a state are a scan.
with found as materialized (
  select job.id as id from job
  where job.state is not null and (job.state, job.id) < (:state, :before) and (job.state, job.id) >= (:state, :floor)
    and (:tasks::json is null or job.task in (select json_array_elements_text(:tasks::json)))
    and (:queue::text is null or job.lane in (select lane.id from lane where lane.queue = :queue))
    and (:tag::text is null or (job.tags is not null and tagged(job.tags, :tag, :tag_value)))
    and (:since::bigint is null or job.created >= :since)
    and (:until::bigint is null or job.created < :until)
  order by job.state desc, job.id desc limit :limit
)
select shown.* from found cross join lateral (select job_shown.* from job_shown where job_shown.id = found.id offset 0) as shown
order by found.id desc
