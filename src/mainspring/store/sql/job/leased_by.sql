-- What a worker owns. Asked after an outage only; leases are as many as jobs run.
select job, claim, lane from lease where worker = :worker order by job
