-- Running jobs, newest first: from their place.
select job.id, job.task,
  coalesce(job.state, case when lease.job is not null then 'running' when ready.job is not null then 'queued' else due.state end) as state,
  lane.queue, job.priority, job.params, job.result,
  coalesce(job.failure, case when job.state is null then
    (select failure from attempt where attempt.job = job.id order by number desc limit 1) end) as failure,
  coalesce(job.attempt, lease.attempt, ready.attempt, due.attempt) as attempt, policy.document as policy, job.due, job.created,
  coalesce(job.started, lease.since, (select max(started) from attempt where attempt.job = job.id)) as started,
  job.finished, job.expires,
  coalesce((select name from worker where worker.id = coalesce(job.worker, lease.worker)),
    (select worker.name from attempt join worker on worker.id = attempt.worker
     where attempt.job = job.id order by number desc limit 1)) as worker,
  job.tags, job.meta, job.parent, job.replay_of,
  (select max(id) from job as replay where replay.replay_of = job.id) as replayed_by,
  lease.cancel_at is not null as cancel_requested, lease.details, job.run,
  (select workflow_node.name from run join workflow_node on workflow_node.version = run.version
   where run.id = job.run and workflow_node.number = job.node) as node, job.item,
  coalesce(job.tick, (select run.tick from run where run.id = job.run)) as tick
from lease cross join job on job.id = lease.job
join lane on lane.id = job.lane join policy on policy.id = job.policy
left join ready on ready.job = job.id left join due on due.job = job.id
where lease.job < :before and lease.job >= :floor
  and (:tasks is null or job.task in (select value from json_each(:tasks)))
  and (:queue is null or lane.queue = :queue)
  and (:tag is null or exists (
    select 1 from json_each(case when json_valid(job.tags) then job.tags end) where key = :tag and value = :tag_value))
  and (:since is null or job.created >= :since)
  and (:until is null or job.created < :until)
order by lease.job desc limit :limit
