-- Ticks that waited are decided, where they still wait.
update tick set outcome = new.outcome, why = new.why, job = new.job, run = new.run, decided = new.decided, decided_by = new.decided_by
from unnest(:outcome::text[], :why::text[], :job::bigint[], :run::bigint[], :decided::bigint[], :decided_by::text[], :schedule::bigint[],
  :nominal::bigint[], :origin::text[]) as new (outcome, why, job, run, decided, decided_by, schedule, nominal, origin)
where tick.schedule = new.schedule and tick.nominal = new.nominal and tick.origin = new.origin and tick.outcome = 'waiting'
