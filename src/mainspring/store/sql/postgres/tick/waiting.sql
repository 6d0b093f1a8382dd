-- Ticks of these schedules that wait, the first to come first.
select tick.schedule, tick.nominal, tick.origin, tick.ticks, tick.last, tick.outcome, tick.why, tick.job, tick.run, tick.decided, tick.decided_by
from unnest(translate(:schedules, '[]', '{}')::bigint[]) as one (schedule)
cross join lateral (select * from tick where schedule = one.schedule and outcome = 'waiting' offset 0) as tick
order by tick.schedule, tick.nominal
