-- How many nodes of a run that have left their place are in each state, and how many items their maps have.
select node.state, workflow_node.may_fail, count(*) as nodes, cast(sum(coalesce(node.items, 0)) as bigint) as items,
  cast(sum(case when node.items is null then 0 else node.succeeded + node.failed + node.cancelled end) as bigint) as ended
from run join node on node.run = run.id
join workflow_node on workflow_node.version = run.version and workflow_node.number = node.number
where run.id = :run group by node.state, workflow_node.may_fail
