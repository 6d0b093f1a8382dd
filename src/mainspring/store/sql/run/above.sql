-- The workflows that a run is in, its own first.
with recursive up (depth, workflow, above) as (
  select 1, workflow, parent_run from run where id = :run
  union all select up.depth + 1, run.workflow, run.parent_run from up join run on run.id = up.above
)
select depth, workflow from up order by depth
