-- What servers and workers say of themselves.

create table record (
  seq integer primary key,          -- taken from a counter that is held until the commit, so none is passed
  at integer not null,
  process text not null,            -- server, worker
  pid integer not null,
  level integer not null,            -- 10 to 50
  source text not null,
  message text not null,
  job integer,
  attempt integer,
  run integer,
  worker integer,
  trace text
) strict;

create index record_at on record (at);
create index record_job on record (job, seq) where job is not null;
