-- Versions of workflows that nothing refers to go after a while.

alter table workflow_version add column idle bigint; -- since when nothing is known to refer to it; null: something does
create index run_version on run (version);
create index node_part_version on node_part (version) where version is not null;
