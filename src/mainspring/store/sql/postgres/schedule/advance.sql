-- Ticks were decided, where what is said of their schedules is still the same.
update next_tick set at = new.at, nominal = new.nominal, last = new.last, last_fired = new.last_fired,
  last_succeeded = new.last_succeeded, fired = new.fired, failures = new.failures
from unnest(:at::bigint[], :nominal::bigint[], :last::bigint[], :last_fired::bigint[], :last_succeeded::bigint[],
  :fired::bigint[], :failures::bigint[], :schedule::bigint[], :version::bigint[])
  as new (at, nominal, last, last_fired, last_succeeded, fired, failures, schedule, version)
where next_tick.schedule = new.schedule and next_tick.version = new.version
