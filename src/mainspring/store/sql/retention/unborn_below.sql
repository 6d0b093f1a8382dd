-- A run that goes, or of the resumes of nested runs that were to begin in it and never did, one that no further one is in.
with recursive below (depth, run) as (
  select 0, cast(:run as bigint)
  union all
  select below.depth + 1, node_part.again from below join node_part on node_part.run = below.run and node_part.again is not null
  where not exists (select 1 from run where run.id = node_part.again)
)
select run from below order by depth desc limit 1
