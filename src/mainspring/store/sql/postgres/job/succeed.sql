-- leaves: leased
-- enters: ended
-- causes: succeed
-- Attempts that succeeded, with all that is written of them. The fence: only the claim that holds the lease can leave it;
-- and nobody has asked for a cancel, which would be another end.
with gone as (
  delete from lease
  using unnest(:job::bigint[], :claim::bigint[], :result::text[], :sandbox::text[], :details::text[])
    as one (job, claim, result, sandbox, details)
  where lease.job = one.job and lease.claim = one.claim and cancel_at is null
  returning lease.job, lease.claim, attempt, worker, since, one.result, one.sandbox, coalesce(one.details, lease.details) as details,
    greatest(since, (select coalesce(:given::bigint, (extract(epoch from transaction_timestamp()) * 1000000)::bigint))) as at
), tried as (
  insert into attempt (job, number, outcome, charge, worker, started, ended, sandbox, details)
  select job, attempt, 'succeeded', 'attempt', worker, since, at, sandbox, details from gone
), ended as (
  update job set state = 'succeeded', attempt = gone.attempt, started = since, finished = at, worker = gone.worker,
    result = gone.result, failure = null
  from gone where job.id = gone.job
), told as (
  insert into event (job, at, cause, source, target, attempt, actor, detail)
  select job, at, 'succeed', 'running', 'succeeded', attempt, :actor::text, null from gone
)
select job, claim from gone
