-- The ended attempts of one job, in order.
select job, number, outcome, charge, worker, started, ended from attempt where job = :job order by number
