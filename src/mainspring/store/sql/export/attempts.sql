-- The attempts of the jobs in a range of numbers, those that run too.
select attempt.job, number, outcome, coalesce(worker.name, 'worker ' || attempt.worker) as worker,
  attempt.started, ended, sandbox, charge, failure, details
from attempt left join worker on worker.id = attempt.worker where attempt.job between :first and :last
union all
select lease.job, lease.attempt, null, coalesce(worker.name, 'worker ' || lease.worker), lease.since, null, '', null, null,
  lease.details
from lease left join worker on worker.id = lease.worker where lease.job between :first and :last
order by 1, 2
