-- What happened in a run, oldest first: to it, to its nodes, to their jobs.
select event.seq, event.job, event.at, event.cause, event.source, event.target, event.attempt, event.actor, event.detail,
  :run as run, coalesce(event.node, job.node) as node,
  (select workflow_node.name from run join workflow_node on workflow_node.version = run.version
   where run.id = :run and workflow_node.number = coalesce(event.node, job.node)) as name
from (
  select seq from event where run = :run and seq > :after
  union all select event.seq from job join event on event.job = job.id where job.run = :run and event.seq > :after
  order by seq limit :limit
) as found join event on event.seq = found.seq left join job on job.id = event.job and event.job > 0
order by event.seq
