-- Running jobs, newest first: from their place.
select job.id, job.task,
  coalesce(job.state, case when lease.job is not null then 'running' when ready.job is not null then 'queued' else due.state end),
  lane.queue, job.priority, job.params, job.result,
  coalesce(job.failure, case when job.state is null then
    (select failure from attempt where attempt.job = job.id order by number desc limit 1) end),
  coalesce(job.attempt, lease.attempt, ready.attempt, due.attempt), policy.document, job.due, job.created,
  coalesce(job.started, lease.since, (select max(started) from attempt where attempt.job = job.id)),
  job.finished, job.expires,
  coalesce((select name from worker where worker.id = coalesce(job.worker, lease.worker)),
    (select worker.name from attempt join worker on worker.id = attempt.worker
     where attempt.job = job.id order by number desc limit 1)),
  job.tags, job.meta, job.parent, job.replay_of,
  (select max(id) from job as replay where replay.replay_of = job.id),
  lease.cancel_at is not null, lease.details
from lease cross join job on job.id = lease.job
join lane on lane.id = job.lane join policy on policy.id = job.policy
left join ready on ready.job = job.id left join due on due.job = job.id
where lease.job < :before
  and (:tasks is null or job.task in (select value from json_each(:tasks)))
  and (:queue is null or lane.queue = :queue)
  and (:tag is null or json_extract(job.tags, :tag) = :tag_value)
  and (:since is null or job.created >= :since)
  and (:until is null or job.created < :until)
order by lease.job desc limit :limit
