-- The nodes below some (each: run, node, behind which target), in their order; what there is to know of those that a
-- few can let go. Cross joins run as they are written, so the rows come in this order; to sort them would be a third of it.
select told.key as place, workflow_edge.target, workflow_node.needs, workflow_node.early,
  case when workflow_node.needs <= 3 then workflow_node.document end as document,
  case when workflow_node.needs <= 3 then workflow_node.inputs end as inputs, workflow_node.name, workflow_node.may_fail
from json_each(:told) as told cross join run on run.id = told.value ->> 0
cross join workflow_edge on workflow_edge.version = run.version
  and workflow_edge.source = told.value ->> 1 and workflow_edge.target > told.value ->> 2
cross join workflow_node on workflow_node.version = run.version and workflow_node.number = workflow_edge.target
limit :limit
