-- Metrics: what happened in each minute, hour and day, what has happened in all, and how far the event history was read.

create table reader (              -- whoever reads on from here moves the cursor with what it makes of it, so nothing counts twice
  name text primary key,
  cursor bigint not null
);

create table series (
  step bigint not null,            -- how long the stretch is: a minute, an hour or a day
  at bigint not null,              -- when it begins
  metric text not null,
  queue text not null,
  task text not null,
  label text not null,
  bucket bigint not null,          -- of a histogram; -1 for what is only counted
  number bigint not null,
  total bigint not null,           -- of what was measured
  most bigint not null,
  primary key (step, metric, at, queue, task, label, bucket)
);

create index series_at on series (step, at);

create table total (               -- the same without beginning or end
  metric text not null,
  queue text not null,
  task text not null,
  label text not null,
  bucket bigint not null,
  number bigint not null,
  total bigint not null,
  primary key (metric, queue, task, label, bucket)
);
