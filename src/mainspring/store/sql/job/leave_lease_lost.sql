-- leaves: leased
-- causes: lose, exhaust, cancel
-- The sweeper's fence: the lease as it was seen, still expired by the database's clock.
delete from lease where job = :job and claim = :claim and until = :until and until < :now
returning job, claim, lane, priority, attempt, since, worker, cancel_at, details
