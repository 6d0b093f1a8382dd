-- What servers and workers say of themselves.

create table record (
  seq bigint primary key,           -- taken from a counter that is held until the commit, so none is passed
  at bigint not null,
  process text not null,            -- server, worker
  pid bigint not null,
  level bigint not null,            -- 10 to 50
  source text not null,
  message text not null,
  job bigint,
  attempt bigint,
  run bigint,
  worker bigint,
  trace text
);

create index record_at on record (at);
create index record_job on record (job, seq) where job is not null;
