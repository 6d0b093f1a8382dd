-- Jobs in any state, newest first. Found by their own rows, and only then shown with all that is theirs.
with found as materialized (
  select job.id as id from job
  where job.id < :before and job.id >= :floor
    and (:tasks::json is null or job.task in (select json_array_elements_text(:tasks::json)))
    and (:queue::text is null or job.lane in (select lane.id from lane where lane.queue = :queue))
    and (:tag::text is null or (job.tags is not null and tagged(job.tags, :tag, :tag_value)))
    and (:since::bigint is null or job.created >= :since)
    and (:until::bigint is null or job.created < :until)
  order by job.id desc limit :limit
)
select shown.* from found cross join lateral (select job_shown.* from job_shown where job_shown.id = found.id offset 0) as shown
order by found.id desc
