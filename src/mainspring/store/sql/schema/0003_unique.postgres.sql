-- Keys: which job holds a unique key, and what a submit with an idempotency key was answered.

alter table job add column uniqueness text;  -- JSON: the rule it was submitted with, for replays; null for most

create table unique_key (
  task text not null,
  key text not null,
  job bigint not null,             -- the holder; whether it still holds is told by the place that it is in
  until_claim bigint not null,     -- 1: it holds until it is claimed; 0: until it has ended
  until bigint,                    -- and at most until then
  primary key (task, key)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create index unique_key_job on unique_key (job);

create table idempotency_key (
  key text primary key,
  digest text not null,            -- of what was submitted
  answer text not null,            -- JSON: the receipts
  until bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

create index idempotency_key_until on idempotency_key (until);
