-- The spine: tasks, jobs, their places, attempts, events, workers.
-- Hot tables (ready, due, lease, beat) are narrow and apart from history; a job row is written at birth and at its end.

create table counter (
  name text primary key,
  next integer not null
) strict, without rowid;

insert into counter (name, next) values ('job', 1);

create table task (
  name text primary key,           -- app.task
  app text not null,
  short text not null,
  declaration text not null,       -- JSON
  code_hash text not null,
  generation integer not null,     -- of the code that declared it so
  seen_at integer not null
) strict, without rowid;

create index task_short on task (short);

create table generation (          -- kept also when no task is left of a code hash, so that old code stays old
  app text not null,
  code_hash text not null,
  number integer not null,         -- order in which code hashes were first seen
  seen_at integer not null,
  primary key (app, code_hash)
) strict, without rowid;

create table lane (
  id integer primary key,
  queue text not null,
  app text not null,
  lodging text not null,
  unique (queue, app, lodging)
) strict;

create table policy (
  id integer primary key,
  document text not null unique    -- JSON: retry, timeout, grace
) strict;

create table job (
  id integer primary key,
  task text not null,
  lane integer not null,
  priority integer not null,
  policy integer not null,
  due integer not null,
  created integer not null,
  expires integer,
  parent integer,
  replay_of integer,
  tags text,
  meta text,
  params text not null,
  state text check (state in ('succeeded', 'dead', 'cancelled')),
  attempt integer,
  started integer,
  finished integer,
  worker integer,
  result text,
  failure text,
  check ((state is null) = (finished is null))
) strict;

create index job_ended on job (state, id) where state is not null;
create index job_replay on job (replay_of) where replay_of is not null;
create index job_parent on job (parent) where parent is not null;

create trigger job_end_is_final before update on job when old.state is not null
begin
  select raise(abort, 'an ended job never changes');
end;

create table ready (
  job integer primary key,
  lane integer not null,
  priority integer not null,
  due integer not null,
  attempt integer not null,
  since integer not null
) strict;

create index ready_order on ready (lane, priority, due, job);

create table due (
  job integer primary key,
  at integer not null,
  state text not null check (state in ('scheduled', 'retrying')),
  lane integer not null,
  priority integer not null,
  attempt integer not null,
  since integer not null
) strict;

create index due_at on due (at, job);

create table lease (
  job integer primary key,
  claim integer not null,
  attempt integer not null,
  worker integer not null,
  until integer not null,
  since integer not null,
  lane integer not null,
  priority integer not null,
  cancel_at integer,
  cancel_by text,
  details text
) strict;

create index lease_cancel on lease (worker) where cancel_at is not null;

create table expiry (
  job integer primary key,
  at integer not null
) strict;

create index expiry_at on expiry (at, job);

create table attempt (
  job integer not null,
  number integer not null,
  outcome text not null,
  charge text not null,
  worker integer not null,
  started integer not null,
  ended integer not null,
  sandbox text not null,
  failure text,
  details text,
  primary key (job, number)
) strict, without rowid;

create table event (
  seq integer primary key,
  job integer not null,
  at integer not null,
  cause text not null,
  source text not null,
  target text not null,
  attempt integer not null,
  actor text not null,
  detail text
) strict;

create index event_job on event (job);

create table worker (
  id integer primary key,
  incarnation text not null unique,
  name text not null,
  host text not null,
  pid integer not null,
  app text not null,
  code_hash text not null,
  version text not null,
  queues text not null,
  labels text not null,
  slots integer not null,
  tasks text not null,
  pids text not null,
  started integer not null
) strict;

create table beat (
  worker integer primary key,
  at integer not null,
  lasts integer not null,          -- microseconds after which a silent worker is taken for lost
  state text not null
) strict;

-- For people with a SQLite shell.
create view job_readable as
  select job.id, job.task,
    coalesce(job.state, case when lease.job is not null then 'running' when ready.job is not null then 'queued'
      else due.state end) as state,
    lane.queue, job.priority, coalesce(job.attempt, lease.attempt, ready.attempt, due.attempt) as attempt,
    datetime(job.created / 1000000, 'unixepoch') as created_at,
    datetime(job.due / 1000000, 'unixepoch') as run_at,
    datetime(job.finished / 1000000, 'unixepoch') as finished_at,
    job.params, job.result, job.failure
  from job join lane on lane.id = job.lane left join lease on lease.job = job.id
  left join ready on ready.job = job.id left join due on due.job = job.id;
