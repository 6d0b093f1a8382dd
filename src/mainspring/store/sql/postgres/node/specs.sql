-- What some nodes (run, number) are.
select run.id as run, workflow_node.number, workflow_node.document, workflow_node.inputs, workflow_node.name, workflow_node.may_fail
from json_array_elements(:nodes::json) as each (one) join run on run.id = (each.one ->> 0)::bigint
join workflow_node on workflow_node.version = run.version and workflow_node.number = (each.one ->> 1)::bigint
