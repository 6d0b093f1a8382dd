-- Runs that have ended in a stretch of history.
select event.seq, event.at, event.target as state, run.id as run, run.workflow, run.parent_job, run.parent_run, run.created,
  run.tags
from event join run on run.id = event.run
where event.seq > :after and event.seq <= :until and event.job = 0 and event.node is null
  and event.target in ('succeeded', 'failed', 'cancelled')
order by event.seq
