-- leaves: ready
-- enters: leased
-- causes: claim
-- The first jobs of one lane from a mark on that nobody else is taking just now, leased at once and told with what is needed
-- to run them. Those whose stated expiry has come get no claim: they are only taken out, unless they are not wanted at all.
-- The claims are numbers in a row.
with moment as materialized (
  select coalesce(:given::bigint, (extract(epoch from transaction_timestamp()) * 1000000)::bigint) as now
), gone as (
  delete from ready where ctid = any(array(
    select ctid from ready
    where lane = :lane and (priority, due, job) >= (:from_priority, :from_due, :from_job)
      and (attempt = 0 or job <> all(translate(:held, '[]', '{}')::bigint[]))
      and (:late::boolean or coalesce((select expires from job where id = ready.job) > (select now from moment), true))
    order by priority, due, job limit :limit for update skip locked))
  and :rules = coalesce((select next from counter where name = 'rules'), 0)
  returning job, lane, priority, due, attempt, since
), taken as materialized (
  select gone.job, gone.lane, gone.priority, gone.due, gone.attempt, gone.since, greatest(gone.since, moment.now) as at,
    row_number() over (order by gone.priority, gone.due, gone.job) as place,
    case when job.expires is null or job.expires > moment.now then :first::bigint end as first,
    task, policy, params, expires, coalesce(tick, (select run.tick from run where run.id = job.run)) as tick, run, node, item, wants
  from moment cross join gone join job on job.id = gone.job
), leased as (
  insert into lease (job, claim, attempt, worker, until, since, lane, priority)
  select job, first + place, attempt + 1, :worker::bigint, moment.now + :lasts::bigint, at, lane, priority
  from moment cross join taken where first is not null
), told as (
  insert into event (job, at, cause, source, target, attempt, actor, detail)
  select job, at, 'claim', 'queued', 'running', attempt + 1, :actor::text, null from taken where first is not null
  order by place
)
select job, lane, priority, due, attempt, since, first + place as claim, task, policy, params, expires, tick, run, node, item, wants
from taken order by place
