-- How the nodes of ended runs ended, of those that have a row for each.
select run.id, run.state, run.stop, sum(case when node.state = 'active' then 1 else 0 end) as active,
  sum(case when node.state = 'succeeded' then 1 else 0 end) as succeeded,
  sum(case when node.state = 'failed' and workflow_node.may_fail = 0 then 1 else 0 end) as failed,
  sum(case when node.state = 'failed' and workflow_node.may_fail = 1 then 1 else 0 end) as excused,
  sum(case when node.state = 'skipped' then 1 else 0 end) as skipped,
  sum(case when node.state = 'cancelled' then 1 else 0 end) as cancelled
from run join workflow_version on workflow_version.id = run.version join node on node.run = run.id
join workflow_node on workflow_node.version = run.version and workflow_node.number = node.number
where run.state is not null group by run.id, run.state, run.stop, workflow_version.nodes
having count(*) >= workflow_version.nodes order by run.id
