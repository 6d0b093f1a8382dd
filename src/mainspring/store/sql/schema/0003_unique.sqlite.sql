-- Keys: which job holds a unique key, and what a submit with an idempotency key was answered.

alter table job add column uniqueness text;  -- JSON: the rule it was submitted with, for replays; null for most

create table unique_key (
  task text not null,
  key text not null,
  job integer not null,            -- the holder; whether it still holds is told by the place that it is in
  until_claim integer not null,    -- 1: it holds until it is claimed; 0: until it has ended
  until integer,                   -- and at most until then
  primary key (task, key)
) strict, without rowid;

create index unique_key_job on unique_key (job);

create table idempotency_key (
  key text primary key,
  digest text not null,            -- of what was submitted
  answer text not null,            -- JSON: the receipts
  until integer not null
) strict, without rowid;

create index idempotency_key_until on idempotency_key (until);
