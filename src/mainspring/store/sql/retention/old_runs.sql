-- Ended runs behind a number, in one state, and whether each may go: it ended before an instant, the run that it is a node of
-- is gone, no run has results from it, and neither a replay of it nor the job that started it is unfinished. The run of the
-- newest event stays, as SQLite numbers the next one by it.
select run.id, run.finished < :before
  and (select 1 from run as above where above.id = run.parent_run) is null
  and (select 1 from node where node.origin = run.id limit 1) is null
  and (select 1 from node_part where node_part.origin = run.id limit 1) is null
  and (select 1 from run as replay where replay.replay_of = run.id and replay.state is null limit 1) is null
  and (select 1 from job where job.id = run.parent_job and job.state is null) is null
  and run.id <> coalesce((select event.run from event order by seq desc limit 1), 0) as may_go
from run where run.state = :state and run.id > :after order by run.id limit :limit
