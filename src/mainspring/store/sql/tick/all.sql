-- Every tick behind a place, in order: for exports and audits.
select tick.schedule, tick.nominal, tick.origin, tick.ticks, tick.last, tick.outcome, tick.why, tick.job, tick.run, tick.decided, tick.decided_by
from tick
where tick.schedule > :schedule or (tick.schedule = :schedule and (tick.nominal > :nominal
  or (tick.nominal = :nominal and tick.origin > :origin)))
order by tick.schedule, tick.nominal, tick.origin limit :limit
