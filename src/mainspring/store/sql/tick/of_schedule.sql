-- Ticks of a schedule before a place, newest first, with what became of their jobs.
select tick.schedule, tick.nominal, tick.origin, tick.ticks, tick.last, tick.outcome, tick.why, tick.job, tick.decided, tick.decided_by, job.state
from tick left join job on job.id = tick.job
where tick.schedule = :schedule and (tick.nominal < :nominal or (tick.nominal = :nominal and tick.origin < :origin))
order by tick.nominal desc, tick.origin desc limit :limit
