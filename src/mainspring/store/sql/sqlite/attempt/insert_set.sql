-- Attempts that succeeded, of jobs that are still leased.
insert into attempt (job, number, outcome, charge, worker, started, ended, sandbox, details)
select lease.job, attempt, 'succeeded', 'attempt', worker, since, max(since, :now), :sandbox, coalesce(:details, details)
from json_each(:jobs) as one cross join lease on lease.job = one.value
