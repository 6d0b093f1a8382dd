-- Runs with a limit of active nodes: those that may go and find no room stand in line. Jobs that have started runs are
-- asked for them when they are cancelled.

create table node_lined (
  run integer not null,
  number integer not null,
  primary key (run, number)
) strict, without rowid;

create index run_started on run (parent_job) where parent_job is not null and state is null;
