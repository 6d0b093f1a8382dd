-- All that happened behind a cursor, oldest first, with what it belongs to; the inner limit bounds the work.
select event.seq, event.at, nullif(event.job, 0) as job, coalesce(event.run, job.run) as run,
  (select workflow_node.name from run join workflow_node on workflow_node.version = run.version
   where run.id = coalesce(event.run, job.run) and workflow_node.number = coalesce(event.node, job.node)) as node,
  job.task, lane.queue, event.cause, event.source, event.target, event.attempt, event.actor, event.detail
from (select * from event where seq > :after and seq <= :bound order by seq limit :limit) as event
left join job on job.id = event.job and event.job > 0
left join lane on lane.id = job.lane
order by event.seq
