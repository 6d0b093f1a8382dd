-- The nodes below one, from a number on; what there is to know of those that it alone can let go.
select run.id as run, :node as source, workflow_edge.target, workflow_node.needs, workflow_node.early,
  case when workflow_node.needs <= 1 then workflow_node.document end as document,
  case when workflow_node.needs <= 1 then workflow_node.inputs end as inputs, workflow_node.name, workflow_node.may_fail
from run join workflow_edge on workflow_edge.version = run.version and workflow_edge.source = :node and workflow_edge.target > :after
join workflow_node on workflow_node.version = run.version and workflow_node.number = workflow_edge.target
where run.id = :run order by workflow_edge.target limit :limit
