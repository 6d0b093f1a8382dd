-- Workflows: documents by their hash, runs, and their nodes.
--
-- A node of a run is in one of two places. While nothing has been decided about it, there is no row in "node": it waits,
-- and counts in "node_waiting" how its needs have ended, from the first of several ends on. When it leaves, a row of
-- "node" is its proof, so it leaves once. Nothing is written of a node that nothing has reached yet, so that a run of any
-- size begins and ends with work in proportion to what moves.

create table workflow_version (    -- a document without its nodes
  id bigint generated always as identity primary key,
  hash text not null unique,
  header text not null,            -- JSON
  nodes bigint not null,
  whole bigint not null default 0   -- 1 from when all nodes and edges are there
);

create table workflow_node (
  version bigint not null,
  number bigint not null,           -- place in the document, from 1; 0 is the start, the last one the end
  name text not null,
  needs bigint not null,            -- how many
  early bigint not null,            -- 1: it may go before all of them have ended
  may_fail bigint not null,
  document text not null,          -- JSON
  inputs text not null,            -- JSON: numbers of the nodes whose results it reads, by name
  primary key (version, number)
);

create table workflow_edge (       -- the last node of a version, the end, needs all from which no way leads further
  version bigint not null,
  source bigint not null,
  target bigint not null,
  primary key (version, source, target)
);

create table workflow (
  name text primary key,
  version bigint not null,
  changed bigint not null
);

create table run (
  id bigint primary key,
  workflow text not null,
  version bigint not null,
  params text not null,            -- JSON
  created bigint not null,
  on_failure text not null,
  parallel bigint,                  -- most active nodes
  deadline bigint,
  parent_job bigint,
  parent_run bigint,                -- of a nested run: the node, and the item of a map, that it is
  parent_node bigint,
  parent_item bigint,
  replay_of bigint,
  tags text,
  stop text check (stop in ('cancel', 'timeout', 'fail_fast')),
  stop_at bigint,
  stop_by text,
  state text check (state in ('succeeded', 'failed', 'cancelled')),
  finished bigint,
  result text,
  check ((state is null) = (finished is null))
);

create index run_ended on run (state, id) where state is not null;
create index run_live on run (id) where state is null;
create index run_replay on run (replay_of) where replay_of is not null;
create index run_nested on run (parent_run, parent_node) where parent_run is not null;

create table node_waiting (
  run bigint not null,
  number bigint not null,
  open bigint not null,
  succeeded bigint not null,
  failed bigint not null,
  skipped bigint not null,
  primary key (run, number)
) with (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0
);

create table node (                -- nodes that have left their place
  run bigint not null,
  number bigint not null,
  state text not null check (state in ('active', 'succeeded', 'failed', 'skipped', 'cancelled')),
  reason text,
  at bigint not null,               -- when it left its place
  finished bigint,
  items bigint,                     -- of a map: how many there are, how many have begun, how many have ended and how
  begun bigint,
  succeeded bigint not null default 0,
  failed bigint not null default 0,
  cancelled bigint not null default 0,
  late bigint not null,             -- 1: it went when the run had been told to stop
  origin bigint,                    -- of a kept node: the run that has its results
  failure text,                    -- JSON: why it failed, where no job says so
  primary key (run, number)
) with (fillfactor = 70);

create index node_active on node (run, number) where state = 'active';
create index node_origin on node (origin) where origin is not null;

create table errand (              -- what is still to be done for a run
  run bigint not null,
  kind text not null,
  node bigint not null,             -- 0: of the run as a whole
  at bigint not null,
  after bigint not null,            -- how far it is
  weight text,                     -- as what the node counts to those below it
  primary key (run, kind, node)
) with (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0
);

create index errand_at on errand (at, run);

alter table job add column run bigint;
alter table job add column node bigint;
alter table job add column item bigint;
alter table job add column wants text; -- JSON: what its parameters take from its run: params, nodes by name; null: nothing

create index job_run on job (run, node, item) where run is not null;

alter table event add column run bigint; -- of runs and of nodes that have no job: the job is 0
alter table event add column node bigint;

create index event_run on event (run) where run is not null;

drop view job_readable;
drop view job_shown;

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
    lease.cancel_at is not null as cancel_requested, lease.details, job.run,
    (select workflow_node.name from run join workflow_node on workflow_node.version = run.version
     where run.id = job.run and workflow_node.number = job.node) as node, job.item
  from job join lane on lane.id = job.lane join policy on policy.id = job.policy
  left join lease on lease.job = job.id left join ready on ready.job = job.id left join due on due.job = job.id;

-- For people with psql.
create view job_readable as
  select id, task, state, queue, priority, attempt,
    to_timestamp(created / 1e6) as created_at, to_timestamp(due / 1e6) as run_at, to_timestamp(finished / 1e6) as finished_at,
    params, result, failure
  from job_shown;
