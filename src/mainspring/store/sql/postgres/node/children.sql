-- The nodes below some, from a number on; what there is to know of those that one alone can let go.
select below.* from unnest(:node::bigint[], :after::bigint[], :run::bigint[], :limit::bigint[]) as one (node, behind, run, most)
cross join lateral (
select run.id as run, one.node as source, workflow_edge.target, workflow_node.needs, workflow_node.early,
  case when workflow_node.needs <= 1 then workflow_node.document end as document,
  case when workflow_node.needs <= 1 then workflow_node.inputs end as inputs, workflow_node.name, workflow_node.may_fail
from run join workflow_edge on workflow_edge.version = run.version and workflow_edge.source = one.node and workflow_edge.target > one.behind
join workflow_node on workflow_node.version = run.version and workflow_node.number = workflow_edge.target
where run.id = one.run order by workflow_edge.target limit one.most) as below
