-- Job output, in a file of its own beside the store.
create table log (
  job integer not null,
  seq integer not null,            -- number of its last line within the job
  attempt integer not null,
  at integer not null,
  stream text not null,
  level text not null,
  text text not null,
  primary key (job, seq)
) strict, without rowid;
