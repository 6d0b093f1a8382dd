-- Runs about to move on.
select id, version, on_failure, parallel, stop, state, parent_run, parent_node, parent_item, kept, tick,
  (select hash from workflow_version where workflow_version.id = run.version) as content
from run
where id in (select value from json_each(:runs))
