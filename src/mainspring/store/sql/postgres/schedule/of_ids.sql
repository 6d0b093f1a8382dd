-- These schedules, by id.
select schedule.id, schedule.name, schedule.origin, schedule.app, schedule.generation, schedule.declaration, schedule.override,
  schedule.created, schedule.changed, schedule.paused_at, schedule.paused_by, schedule.note, schedule.withdrawn_at,
  schedule.removed_at, next_tick.version, next_tick.at, next_tick.nominal, next_tick.last, next_tick.last_fired,
  next_tick.last_succeeded, next_tick.fired, next_tick.failures
from unnest(translate(:schedules, '[]', '{}')::bigint[]) as one (schedule)
cross join lateral (select * from schedule where id = one.schedule limit 1) as schedule
cross join lateral (select * from next_tick where schedule = one.schedule limit 1) as next_tick
order by schedule.id
