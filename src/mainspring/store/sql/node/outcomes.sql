-- How the nodes of a run ended.
select workflow_node.name, node.state, node.reason from run join node on node.run = run.id
join workflow_node on workflow_node.version = run.version and workflow_node.number = node.number where run.id = :run
