-- Runs about to move on: until this transaction ends nobody tells them to stop, and who did before is seen.
select id, version, on_failure, parallel, stop, state, parent_run, parent_node, parent_item, kept, tick,
  (select hash from workflow_version where workflow_version.id = run.version) as content
from run
where id = any(translate(:runs, '[]', '{}')::bigint[]) order by id for share
