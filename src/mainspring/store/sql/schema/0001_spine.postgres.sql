-- The spine: tasks, jobs, their places, attempts, events, workers, job output.
-- Hot tables (ready, due, lease, beat) are narrow and apart from history; a job row is written at birth and at its end.
-- Instants are microseconds since 1970, as in SQLite. The names are those of the schema that is being set up.

create sequence job_id;

create sequence event_seq;

create table counter (             -- only the mark that health writes: job ids come from the sequence
  name text primary key,
  next bigint not null
);

create table task (
  name text primary key,           -- app.task
  app text not null,
  short text not null,
  declaration text not null,       -- JSON
  code_hash text not null,
  generation bigint not null,      -- of the code that declared it so
  seen_at bigint not null
);

create index task_short on task (short);

create table generation (          -- kept also when no task is left of a code hash, so that old code stays old
  app text not null,
  code_hash text not null,
  number bigint not null,          -- order in which code hashes were first seen
  seen_at bigint not null,
  primary key (app, code_hash)
);

create table lane (
  id bigint generated always as identity primary key,
  queue text not null,
  app text not null,
  lodging text not null,
  unique (queue, app, lodging)
);

create table policy (
  id bigint generated always as identity primary key,
  document text not null unique    -- JSON: retry, timeout, grace
);

create table job (
  id bigint primary key,
  task text not null,
  lane bigint not null,
  priority bigint not null,
  policy bigint not null,
  due bigint not null,
  created bigint not null,
  expires bigint,
  parent bigint,
  replay_of bigint,
  tags text,
  meta text,
  params text not null,
  state text check (state in ('succeeded', 'dead', 'cancelled')),
  attempt bigint,
  started bigint,
  finished bigint,
  worker bigint,
  result text,
  failure text,
  check ((state is null) = (finished is null))
);

create index job_ended on job (state, id) where state is not null;
create index job_replay on job (replay_of) where replay_of is not null;
create index job_parent on job (parent) where parent is not null;

create function refuse_new_end() returns trigger language plpgsql as $$
begin
  raise exception 'an ended job never changes';
end
$$;

create trigger job_end_is_final before update on job
for each row when (old.state is not null) execute function refuse_new_end();

-- The places. Their rows come and go, so that their pages are vacuumed early, by number rather than by share.

create table ready (
  job bigint primary key,
  lane bigint not null,
  priority bigint not null,
  due bigint not null,
  attempt bigint not null,
  since bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);

create index ready_order on ready (lane, priority, due, job);

create table due (
  job bigint primary key,
  at bigint not null,
  state text not null check (state in ('scheduled', 'retrying')),
  lane bigint not null,
  priority bigint not null,
  attempt bigint not null,
  since bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);

create index due_at on due (at, job);

create table lease (
  job bigint primary key,
  claim bigint not null,
  attempt bigint not null,
  worker bigint not null,
  until bigint not null,
  since bigint not null,
  lane bigint not null,
  priority bigint not null,
  cancel_at bigint,
  cancel_by text,
  details text
) with (
  fillfactor = 70,                 -- a renewal stays on its page
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0
);

create index lease_cancel on lease (worker) where cancel_at is not null;

create table expiry (
  job bigint primary key,
  at bigint not null
);

create index expiry_at on expiry (at, job);

create table attempt (
  job bigint not null,
  number bigint not null,
  outcome text not null,
  charge text not null,
  worker bigint not null,
  started bigint not null,
  ended bigint not null,
  sandbox text not null,
  failure text,
  details text,
  primary key (job, number)
);

create table event (
  seq bigint primary key default nextval('event_seq'),
  job bigint not null,
  at bigint not null,
  cause text not null,
  source text not null,
  target text not null,
  attempt bigint not null,
  actor text not null,
  detail text
);

create index event_job on event (job, seq);

create table worker (
  id bigint generated always as identity primary key,
  incarnation text not null unique,
  name text not null,
  host text not null,
  pid bigint not null,
  app text not null,
  code_hash text not null,
  version text not null,
  queues text not null,
  labels text not null,
  slots bigint not null,
  tasks text not null,
  pids text not null,
  started bigint not null
);

create table beat (
  worker bigint primary key,
  at bigint not null,
  lasts bigint not null,           -- microseconds after which a silent worker is taken for lost
  state text not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

create table log (
  job bigint not null,
  seq bigint not null,             -- number of its last line within the job
  attempt bigint not null,
  at bigint not null,
  stream text not null,
  level text not null,
  text text not null,
  primary key (job, seq)
);

-- A job with what its place says of it, as people are shown it; the columns are those of rows.py, in their order.
create view job_shown as
  select job.id, job.task,
    coalesce(job.state, case when lease.job is not null then 'running' when ready.job is not null then 'queued'
      else due.state end) as state,
    lane.queue, job.priority, job.params, job.result,
    coalesce(job.failure, case when job.state is null then
      (select failure from attempt where attempt.job = job.id order by number desc limit 1) end) as failure,
    coalesce(job.attempt, lease.attempt, ready.attempt, due.attempt) as attempt, policy.document as policy, job.due, job.created,
    coalesce(job.started, lease.since, (select max(started) from attempt where attempt.job = job.id)) as started,
    job.finished, job.expires,
    coalesce((select name from worker where worker.id = coalesce(job.worker, lease.worker)),
      (select worker.name from attempt join worker on worker.id = attempt.worker
       where attempt.job = job.id order by number desc limit 1)) as worker,
    job.tags, job.meta, job.parent, job.replay_of,
    (select max(id) from job as replay where replay.replay_of = job.id) as replayed_by,
    lease.cancel_at is not null as cancel_requested, lease.details
  from job join lane on lane.id = job.lane join policy on policy.id = job.policy
  left join lease on lease.job = job.id left join ready on ready.job = job.id left join due on due.job = job.id;

-- For people with psql.
create view job_readable as
  select id, task, state, queue, priority, attempt,
    to_timestamp(created / 1e6) as created_at, to_timestamp(due / 1e6) as run_at, to_timestamp(finished / 1e6) as finished_at,
    params, result, failure
  from job_shown;

-- Whether a job's tags hold one of this name and value. Tags that somebody spoiled by hand match nothing.
create function tagged(tags text, tag text, tag_value text) returns boolean language plpgsql immutable as $$
begin
  return tags is not null and (tags::json ->> tag) = tag_value;
exception when others then
  return false;
end
$$;
