-- What is to come of schedules whose next tick is to be decided, the latest first.
select schedule, version, at, nominal, last, last_fired, last_succeeded, fired, failures
from next_tick where at <= :now order by at, schedule limit :limit
