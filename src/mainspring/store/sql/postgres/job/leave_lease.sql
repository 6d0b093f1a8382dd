-- leaves: leased
-- causes: succeed, retry, exhaust, cancel, requeue, release
-- The fence: only the claim that holds the lease can leave it.
delete from lease using unnest(:job::bigint[], :claim::bigint[]) as one (job, claim)
where lease.job = one.job and lease.claim = one.claim
returning lease.job, lease.claim, lane, priority, attempt, since, worker, cancel_at, details
