-- Schedules: rules that make jobs at instants, what is to come of each, and what became of every tick.

create table schedule (
  id bigint generated always as identity primary key, -- kept for a name that was removed, so that no tick of it ever comes twice
  name text not null unique,
  origin text not null check (origin in ('code', 'toml', 'cli', 'api')),
  app text,                        -- that declares it, where code does
  generation bigint,               -- of that code
  declaration text not null,       -- JSON
  override text,                   -- JSON: what an operator changed since; stays until it is reset
  created bigint not null,
  changed bigint not null,
  paused_at bigint,
  paused_by text,
  note text,
  withdrawn_at bigint,             -- its code no longer declares it
  removed_at bigint
);

create table next_tick (           -- narrow, as it changes with every tick
  schedule bigint primary key,
  version bigint not null,         -- rises with each change of the schedule: what was decided before changes nothing
  at bigint,                      -- when the tick is to be decided: later than it by its jitter; null: none will come
  nominal bigint,
  last bigint,                    -- the last that was decided
  last_fired bigint,
  last_succeeded bigint,
  fired bigint not null default 0,
  failures bigint not null default 0 -- of jobs in a row
) with (
  fillfactor = 50,                 -- but for its index an advance stays on its page
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0
);

create index next_tick_at on next_tick (at, schedule) where at is not null;

create table tick (
  schedule bigint not null,
  nominal bigint not null,         -- its instant before any jitter
  origin text not null,            -- regular, trigger, or backfill-7
  ticks bigint not null,           -- 1, or how many of one kind this row tells of: all from nominal to last
  last bigint not null,
  outcome text not null check (outcome in ('fired', 'waiting', 'skipped', 'missed')),
  why text,
  job bigint,
  decided bigint not null,
  decided_by text not null,
  primary key (schedule, nominal, origin)
);

create index tick_waiting on tick (schedule, nominal) where outcome = 'waiting';
create index tick_decided on tick (decided);

create table flight (              -- jobs of ticks whose ends no scheduler has noted yet
  job bigint primary key,
  schedule bigint not null,
  nominal bigint not null,
  origin text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create index flight_schedule on flight (schedule);

create table backfill (
  id bigint generated always as identity primary key,
  schedule bigint not null,
  first bigint not null,           -- its ticks are in [first, last]
  last bigint not null,
  newest_first bigint not null,
  again bigint not null,            -- 1: also ticks that have fired already
  most bigint,                    -- ticks in all; null: any number
  at_once bigint not null,         -- jobs that may be unfinished at a time
  made bigint not null,
  place bigint,                   -- the last tick that was taken; null: none yet
  created bigint not null,
  created_by text not null,
  ended bigint
);

create index backfill_open on backfill (id) where ended is null;

alter table job add column tick text; -- JSON: the tick that it was made by; null for most
