-- Schedules of which something was said or decided at an instant that has not come: the clock has gone back.
select schedule.id, schedule.name, schedule.origin, schedule.app, schedule.generation, schedule.declaration, schedule.override,
  schedule.created, schedule.changed, schedule.paused_at, schedule.paused_by, schedule.note, schedule.withdrawn_at,
  schedule.removed_at, next_tick.version, next_tick.at, next_tick.nominal, next_tick.last, next_tick.last_fired,
  next_tick.last_succeeded, next_tick.fired, next_tick.failures
from schedule join next_tick on next_tick.schedule = schedule.id
where schedule.removed_at is null and schedule.withdrawn_at is null and (schedule.changed > :now or next_tick.last > :now)
order by schedule.id
