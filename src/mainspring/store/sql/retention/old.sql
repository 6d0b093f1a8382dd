-- Ended jobs behind a number, in one state, and whether each may go: it ended before an instant, and neither its parent nor
-- a child nor a replay of it is still unfinished, and its run is gone (each asked for one row, or PostgreSQL would read all of them). The job of the newest event stays, as SQLite numbers the next one by it.
select job.id, job.finished < :before
  and (select 1 from job as child where child.parent = job.id and child.state is null limit 1) is null
  and (select 1 from job as replay where replay.replay_of = job.id and replay.state is null limit 1) is null
  and (select 1 from job as above where above.id = job.parent and above.state is null limit 1) is null
  and (select 1 from run where run.id = job.run) is null
  and job.id <> coalesce((select event.job from event order by seq desc limit 1), 0) as may_go
from job where job.state = :state and job.id > :after
order by job.id limit :limit
