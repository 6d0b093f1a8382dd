-- Schedules: rules that make jobs at instants, what is to come of each, and what became of every tick.

create table schedule (
  id integer primary key,          -- kept for a name that was removed, so that no tick of it ever comes twice
  name text not null unique,
  origin text not null check (origin in ('code', 'toml', 'cli', 'api')),
  app text,                        -- that declares it, where code does
  generation integer,              -- of that code
  declaration text not null,       -- JSON
  override text,                   -- JSON: what an operator changed since; stays until it is reset
  created integer not null,
  changed integer not null,
  paused_at integer,
  paused_by text,
  note text,
  withdrawn_at integer,            -- its code no longer declares it
  removed_at integer
) strict;

create table next_tick (           -- narrow, as it changes with every tick
  schedule integer primary key,
  version integer not null,        -- rises with each change of the schedule: what was decided before changes nothing
  at integer,                      -- when the tick is to be decided: later than it by its jitter; null: none will come
  nominal integer,
  last integer,                    -- the last that was decided
  last_fired integer,
  last_succeeded integer,
  fired integer not null default 0,
  failures integer not null default 0 -- of jobs in a row
) strict;

create index next_tick_at on next_tick (at, schedule) where at is not null;

create table tick (
  schedule integer not null,
  nominal integer not null,        -- its instant before any jitter
  origin text not null,            -- regular, trigger, or backfill-7
  ticks integer not null,          -- 1, or how many of one kind this row tells of: all from nominal to last
  last integer not null,
  outcome text not null check (outcome in ('fired', 'waiting', 'skipped', 'missed')),
  why text,
  job integer,
  decided integer not null,
  decided_by text not null,
  primary key (schedule, nominal, origin)
) strict, without rowid;

create index tick_waiting on tick (schedule, nominal) where outcome = 'waiting';
create index tick_decided on tick (decided);

create table flight (              -- jobs of ticks whose ends no scheduler has noted yet
  job integer primary key,
  schedule integer not null,
  nominal integer not null,
  origin text not null
) strict;

create index flight_schedule on flight (schedule);

create table backfill (
  id integer primary key,
  schedule integer not null,
  first integer not null,          -- its ticks are in [first, last]
  last integer not null,
  newest_first integer not null,
  again integer not null,           -- 1: also ticks that have fired already
  most integer,                    -- ticks in all; null: any number
  at_once integer not null,        -- jobs that may be unfinished at a time
  made integer not null,
  place integer,                   -- the last tick that was taken; null: none yet
  created integer not null,
  created_by text not null,
  ended integer
) strict;

create index backfill_open on backfill (id) where ended is null;

alter table job add column tick text; -- JSON: the tick that it was made by; null for most
