-- Every attempt that has ended, in order.
select job, number, outcome, charge, worker, started, ended from attempt order by job, number
