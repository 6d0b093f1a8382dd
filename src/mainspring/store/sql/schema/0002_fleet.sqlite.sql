-- The fleet: lanes by what a task requires and costs, queues with a pause and a limit, workers that are drained from outside.
-- The view is made again, as a table that a view names can't be renamed.

drop view job_readable;

create table lane_wider (
  id integer primary key,
  queue text not null,
  app text not null,
  lodging text not null,
  requires text not null,          -- JSON object of labels, its keys in order
  slots integer not null,          -- of a worker, for each job
  unique (queue, app, lodging, requires, slots)
) strict;

insert into lane_wider (id, queue, app, lodging, requires, slots) select id, queue, app, lodging, '{}', 1 from lane;

drop table lane;

alter table lane_wider rename to lane;

create table queue (               -- only those of which an operator has said something
  name text primary key,
  most integer,                    -- jobs that may run at once in the whole fleet; null: no limit
  paused_at integer,
  paused_by text,
  note text,
  counts integer not null default 0, -- changed by whoever is about to count, so that two never count at once
  check ((paused_at is null) = (paused_by is null))
) strict, without rowid;

alter table worker add column drain_at integer;
alter table worker add column drain_by text;

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
