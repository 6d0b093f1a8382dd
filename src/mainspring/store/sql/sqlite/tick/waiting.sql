-- Ticks of these schedules that wait, the first to come first.
select tick.schedule, tick.nominal, tick.origin, tick.ticks, tick.last, tick.outcome, tick.why, tick.job, tick.run, tick.decided, tick.decided_by
from tick
where tick.outcome = 'waiting' and tick.schedule in (select value from json_each(:schedules))
order by tick.schedule, tick.nominal
