-- Workflows: documents by their hash, runs, and their nodes.
--
-- A node of a run is in one of two places. While nothing has been decided about it, there is no row in "node": it waits,
-- and counts in "node_waiting" how its needs have ended, from the first of several ends on. When it leaves, a row of
-- "node" is its proof, so it leaves once. Nothing is written of a node that nothing has reached yet, so that a run of any
-- size begins and ends with work in proportion to what moves.

create table workflow_version (    -- a document without its nodes
  id integer primary key,
  hash text not null unique,
  header text not null,            -- JSON
  nodes integer not null,
  whole integer not null default 0   -- 1 from when all nodes and edges are there
) strict;

create table workflow_node (
  version integer not null,
  number integer not null,           -- place in the document, from 1; 0 is the start, the last one the end
  name text not null,
  needs integer not null,            -- how many
  early integer not null,            -- 1: it may go before all of them have ended
  may_fail integer not null,
  document text not null,          -- JSON
  inputs text not null,            -- JSON: numbers of the nodes whose results it reads, by name
  primary key (version, number)
) strict, without rowid;

create table workflow_edge (       -- the last node of a version, the end, needs all from which no way leads further
  version integer not null,
  source integer not null,
  target integer not null,
  primary key (version, source, target)
) strict, without rowid;

create table workflow (
  name text primary key,
  version integer not null,
  changed integer not null
) strict, without rowid;

create table run (
  id integer primary key,
  workflow text not null,
  version integer not null,
  params text not null,            -- JSON
  created integer not null,
  on_failure text not null,
  parallel integer,                  -- most active nodes
  deadline integer,
  parent_job integer,
  parent_run integer,                -- of a nested run: the node, and the item of a map, that it is
  parent_node integer,
  parent_item integer,
  replay_of integer,
  tags text,
  stop text check (stop in ('cancel', 'timeout', 'fail_fast')),
  stop_at integer,
  stop_by text,
  state text check (state in ('succeeded', 'failed', 'cancelled')),
  finished integer,
  result text,
  check ((state is null) = (finished is null))
) strict;

create index run_ended on run (state, id) where state is not null;
create index run_live on run (id) where state is null;
create index run_replay on run (replay_of) where replay_of is not null;
create index run_nested on run (parent_run, parent_node) where parent_run is not null;

create table node_waiting (
  run integer not null,
  number integer not null,
  open integer not null,
  succeeded integer not null,
  failed integer not null,
  skipped integer not null,
  primary key (run, number)
) strict, without rowid;

create table node (                -- nodes that have left their place
  run integer not null,
  number integer not null,
  state text not null check (state in ('active', 'succeeded', 'failed', 'skipped', 'cancelled')),
  reason text,
  at integer not null,               -- when it left its place
  finished integer,
  items integer,                     -- of a map: how many there are, how many have begun, how many have ended and how
  begun integer,
  succeeded integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  late integer not null,             -- 1: it went when the run had been told to stop
  origin integer,                    -- of a kept node: the run that has its results
  failure text,                    -- JSON: why it failed, where no job says so
  primary key (run, number)
) strict, without rowid;

create index node_active on node (run, number) where state = 'active';
create index node_origin on node (origin) where origin is not null;

create table errand (              -- what is still to be done for a run
  run integer not null,
  kind text not null,
  node integer not null,             -- 0: of the run as a whole
  at integer not null,
  after integer not null,            -- how far it is
  weight text,                     -- as what the node counts to those below it
  primary key (run, kind, node)
) strict, without rowid;

create index errand_at on errand (at, run);

alter table job add column run integer;
alter table job add column node integer;
alter table job add column item integer;
alter table job add column wants text; -- JSON: what its parameters take from its run: params, nodes by name; null: nothing

create index job_run on job (run, node, item) where run is not null;

alter table event add column run integer; -- of runs and of nodes that have no job: the job is 0
alter table event add column node integer;

create index event_run on event (run) where run is not null;
