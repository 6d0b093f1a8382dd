-- leaves: leased
-- causes: succeed, retry, exhaust, cancel, requeue, release
-- The fence: only the claim that holds the lease can leave it.
delete from lease where job = :job and claim = :claim
returning job, claim, lane, priority, attempt, since, worker, cancel_at, details
