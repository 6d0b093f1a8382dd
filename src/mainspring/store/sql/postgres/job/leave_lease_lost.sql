-- leaves: leased
-- causes: lose, exhaust, cancel
-- The sweeper's fence: the lease as it was seen, still expired by the database's clock. Nobody waits for one that another
-- process has locked: it may have stopped there, and whoever waited would stop with it.
delete from lease where job = (
  select job from lease where job = :job and claim = :claim and until = :until and until < :now for update skip locked)
returning job, claim, lane, priority, attempt, since, worker, cancel_at, details
