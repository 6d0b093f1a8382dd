-- Nodes of a run with what is known of each, in order.
select workflow_node.number, workflow_node.name, coalesce(node.state, 'waiting') as state, node.reason, node.at, node.finished, node.items,
  node.begun, coalesce(node.succeeded, 0) as succeeded, coalesce(node.failed, 0) as failed, coalesce(node.cancelled, 0) as cancelled, node.origin, node.failure, workflow_node.document, workflow_node.inputs,
  (select count(*) from node_part where node_part.run = run.id and node_part.number = workflow_node.number and node_part.again is null) as parts
from run join workflow_node on workflow_node.version = run.version
left join node on node.run = run.id and node.number = workflow_node.number
where run.id = :run and workflow_node.name <> '' and workflow_node.number > :after order by workflow_node.number limit :limit
