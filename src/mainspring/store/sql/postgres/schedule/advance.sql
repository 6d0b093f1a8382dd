-- Ticks were decided, where what is said of their schedules is still the same.
update next_tick set at = new.at, nominal = new.nominal, last = new.last, last_fired = new.last_fired,
  last_succeeded = new.last_succeeded, fired = new.fired, failures = new.failures
from (
  select unnest(:at::bigint[]) as at, unnest(:nominal::bigint[]) as nominal, unnest(:last::bigint[]) as last,
    unnest(:last_fired::bigint[]) as last_fired, unnest(:last_succeeded::bigint[]) as last_succeeded,
    unnest(:fired::bigint[]) as fired, unnest(:failures::bigint[]) as failures, unnest(:schedule::bigint[]) as schedule,
    unnest(:version::bigint[]) as version
) as new
where next_tick.schedule = new.schedule and next_tick.version = new.version
