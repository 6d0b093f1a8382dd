-- Runs with a limit of active nodes: those that may go and find no room stand in line. Jobs that have started runs are
-- asked for them when they are cancelled.

create table node_lined (
  run bigint not null,
  number bigint not null,
  primary key (run, number)
) with (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0
);

create index run_started on run (parent_job) where parent_job is not null and state is null;
