-- enters: leased
-- causes: claim
-- Jobs that are still in ready, which they leave next. The claims are numbers in a row.
insert into lease (job, claim, attempt, worker, until, since, lane, priority)
select ready.job, :first + one.key, ready.attempt + 1, :worker, :now + :lasts, max(ready.since, :now), ready.lane, ready.priority
from json_each(:jobs) as one cross join ready on ready.job = one.value
