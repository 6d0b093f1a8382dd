-- Webhooks: who is told of events or messages over HTTP, and what is and was delivered.

create table webhook (
  id integer primary key,
  name text not null,
  url text not null,
  secret text not null,
  old_secret text,                 -- deliveries are signed with this one too ...
  old_until integer,                -- ... until then
  topic text,                      -- its messages; null: events
  kinds text not null,             -- JSON: of events; none: all
  queue text,
  task text,
  cursor integer not null,          -- the last event or message that was read
  created integer not null,
  created_by text not null,
  paused integer,
  paused_by text,
  reason text,
  delivered integer not null,
  failed integer not null,
  reached integer,                  -- when a delivery last came through
  trouble text,                    -- what the last try since then met
  taken integer,                    -- whoever takes deliveries holds this row
  removed integer                   -- its deliveries go first, so that none is ever taken for those of another
) strict;

create table delivery (
  id integer primary key,
  webhook integer not null,
  seq integer,                      -- event or message; null: a test
  kind text not null,
  body text not null,
  made integer not null,
  most integer not null,            -- tries
  urgent integer not null,          -- 1: also while the webhook is paused
  tries integer not null,
  due integer not null,
  claim integer,                    -- of whoever tries it now ...
  until integer,                    -- ... and when that is no longer believed
  log text not null,               -- JSON: tries, oldest first
  answer text,
  state text not null,
  ended integer
) strict;

create unique index webhook_name on webhook (name) where removed is null;
create unique index delivery_once on delivery (webhook, seq) where seq is not null;
create index delivery_of on delivery (webhook, id);
create index delivery_due on delivery (webhook, due) where ended is null;
create index delivery_ended on delivery (ended) where ended is not null;
