-- People who sign in, their sessions, and queues that tokens and people are kept to.

alter table token add column queues text;  -- JSON list of names; null: all

create table account (
  id integer primary key,
  name text not null,
  role text not null,
  queues text,                     -- JSON list of names; null: all
  password text not null,          -- Argon2
  created integer not null,
  created_by text not null,
  used integer,                    -- when somebody last signed in
  removed integer,
  removed_by text
) strict;

create unique index account_name on account (name) where removed is null;

create table signin (
  digest text primary key,         -- of the cookie's secret, which is nowhere
  account integer not null,
  created integer not null,
  expires integer not null
) strict, without rowid;

create index signin_account on signin (account);
create index signin_expires on signin (expires);

create index trail_actor on trail (actor, seq);
create index trail_action on trail (action, seq);
