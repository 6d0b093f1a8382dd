-- What a sound store has nothing of: schedules and ticks that don't fit each other. A number and an instant of each.
select 'schedule without what is to come of it' as what, schedule.id as schedule, 0 as nominal
from schedule where not exists (select 1 from next_tick where next_tick.schedule = schedule.id)
union all select 'what is to come of no schedule', schedule, 0
from next_tick where not exists (select 1 from schedule where schedule.id = next_tick.schedule)
union all select 'tick of no schedule', schedule, nominal
from tick where not exists (select 1 from schedule where schedule.id = tick.schedule)
union all select 'job in flight of no schedule', schedule, nominal
from flight where not exists (select 1 from schedule where schedule.id = flight.schedule)
union all select 'backfill of no schedule', schedule, first
from backfill where not exists (select 1 from schedule where schedule.id = backfill.schedule)
union all select 'tick that has fired and made not exactly one job or run', schedule, nominal
from tick where outcome = 'fired' and (job is null) = (run is null)
union all select 'tick that has not fired and made something', schedule, nominal
from tick where outcome <> 'fired' and (job is not null or run is not null)
union all select 'tick that is recorded twice', schedule, nominal
from tick group by schedule, nominal, origin having count(*) > 1
union all select 'tick that another record tells of as well', other.schedule, other.nominal
from tick join tick as other on other.schedule = tick.schedule and other.nominal > tick.nominal and other.nominal <= tick.last
where tick.origin = 'regular' and other.origin = 'regular' and tick.ticks > 1
union all select 'tick that would come again', next_tick.schedule, next_tick.nominal
from next_tick where next_tick.nominal <= next_tick.last and exists (
  select 1 from tick where tick.schedule = next_tick.schedule and tick.origin = 'regular'
    and tick.nominal <= next_tick.nominal and tick.last >= next_tick.nominal)
