-- Schedules whose next ticks come within some time, behind a place in their order.
select schedule.id, schedule.name, schedule.origin, schedule.app, schedule.generation, schedule.declaration, schedule.override,
  schedule.created, schedule.changed, schedule.paused_at, schedule.paused_by, schedule.note, schedule.withdrawn_at,
  schedule.removed_at, next_tick.version, next_tick.at, next_tick.nominal, next_tick.last, next_tick.last_fired,
  next_tick.last_succeeded, next_tick.fired, next_tick.failures
from schedule join next_tick on next_tick.schedule = schedule.id
where (next_tick.at, next_tick.schedule) > (:at, :schedule) and next_tick.at <= :until
order by next_tick.at, next_tick.schedule limit :limit
