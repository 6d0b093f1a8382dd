-- enters: ready
-- causes: submit
-- Jobs that are to run now, of one task, in one lane, under one policy, with all that is written of them. None where one of
-- these is not there yet, or where the task is declared otherwise than what they were checked against.
with one as materialized (
  select nextval('job_id') as id, unnest(:priority::bigint[]) as priority, unnest(:tags::text[]) as tags,
    unnest(:meta::text[]) as meta, unnest(:params::text[]) as params
), ground as materialized (
  select lane.id as lane, policy.id as policy,
    coalesce(:given::bigint, (extract(epoch from transaction_timestamp()) * 1000000)::bigint) as now
  from task cross join lane cross join policy
  where task.name = :task and task.declaration = :declaration and policy.document = :document
    and lane.queue = :queue and lane.app = :app and lodging = :lodging and requires = :requires and lane.slots = :slots
), born as (
  insert into job (id, task, lane, priority, policy, due, created, parent, tags, meta, params)
  select id, :task::text, lane, priority, policy, now, now, :parent::bigint, tags, meta, params from one cross join ground
  returning id, lane, priority, due
), placed as (
  insert into ready (job, lane, priority, due, attempt, since) select id, lane, priority, due, 0, due from born
), told as (
  insert into event (job, at, cause, source, target, attempt, actor)
  select id, due, 'submit', 'new', 'queued', 0, :actor::text from born order by id
)
select id from born order by id
