-- The nodes below some (each: run, node, behind which target), in their order; what there is to know of those that a
-- few can let go. Whatever the server knows of new tables, each row is looked up by its key: no plan can do otherwise.
select told.place - 1 as place, edge.target, below.needs, below.early,
  case when below.needs <= 3 then below.document end as document, case when below.needs <= 3 then below.inputs end as inputs,
  below.name, below.may_fail
from json_array_elements(:told::json) with ordinality as told (one, place)
cross join lateral (select version from run where id = (told.one ->> 0)::bigint limit 1) as run
cross join lateral (
  select target from workflow_edge
  where version = run.version and source = (told.one ->> 1)::bigint and target > (told.one ->> 2)::bigint
  order by target limit :limit) as edge
cross join lateral (
  select needs, early, document, inputs, name, may_fail from workflow_node
  where version = run.version and number = edge.target limit 1) as below
order by told.place, edge.target limit :limit
