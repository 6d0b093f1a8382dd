-- What some nodes (run, number) are. Each row is looked up by its key, as in children.
select run.id as run, spec.number, spec.document, spec.inputs, spec.name, spec.may_fail
from json_array_elements(:nodes::json) as each (one)
cross join lateral (select id, version from run where id = (each.one ->> 0)::bigint limit 1) as run
cross join lateral (
  select number, document, inputs, name, may_fail from workflow_node
  where version = run.version and number = (each.one ->> 1)::bigint limit 1) as spec
