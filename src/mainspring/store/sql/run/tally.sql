-- How many nodes of a run that have left their place are in each state.
select node.state, workflow_node.may_fail, count(*) as nodes
from run join node on node.run = run.id
join workflow_node on workflow_node.version = run.version and workflow_node.number = node.number
where run.id = :run group by node.state, workflow_node.may_fail
