-- The nodes below some (each: run, node, behind which target), in their order; what there is to know of those that one
-- alone can let go.
select told.place - 1 as place, below.* from json_array_elements(:told::json) with ordinality as told (one, place)
cross join lateral (
  select workflow_edge.target, workflow_node.needs, workflow_node.early,
    case when workflow_node.needs <= 1 then workflow_node.document end as document,
    case when workflow_node.needs <= 1 then workflow_node.inputs end as inputs, workflow_node.name, workflow_node.may_fail
  from run join workflow_edge on workflow_edge.version = run.version
    and workflow_edge.source = (told.one ->> 1)::bigint and workflow_edge.target > (told.one ->> 2)::bigint
  join workflow_node on workflow_node.version = run.version and workflow_node.number = workflow_edge.target
  where run.id = (told.one ->> 0)::bigint order by workflow_edge.target limit :limit) as below
order by told.place, below.target limit :limit
