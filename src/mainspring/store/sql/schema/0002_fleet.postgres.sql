-- The fleet: lanes by what a task requires and costs, queues with a pause and a limit, workers that are drained from outside.

alter table lane
  add column requires text not null default '{}', -- JSON object of labels, its keys in order
  add column slots bigint not null default 1,     -- of a worker, for each job
  drop constraint lane_queue_app_lodging_key,
  add unique (queue, app, lodging, requires, slots);

create table queue (               -- only those of which an operator has said something
  name text primary key,
  most bigint,                     -- jobs that may run at once in the whole fleet; null: no limit
  paused_at bigint,
  paused_by text,
  note text,
  counts bigint not null default 0, -- changed by whoever is about to count, so that two never count at once
  check ((paused_at is null) = (paused_by is null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

alter table worker
  add column drain_at bigint,
  add column drain_by text;
