-- Ticks of a schedule before a place, newest first, with what became of their jobs and runs.
select tick.schedule, tick.nominal, tick.origin, tick.ticks, tick.last, tick.outcome, tick.why, tick.job, tick.run, tick.decided,
  tick.decided_by, coalesce(job.state, run.state) as state
from tick left join job on job.id = tick.job left join run on run.id = tick.run
where tick.schedule = :schedule and (tick.nominal < :nominal or (tick.nominal = :nominal and tick.origin < :origin))
order by tick.nominal desc, tick.origin desc limit :limit
