-- What these nodes are.
select run.id as run, workflow_node.number, workflow_node.document, workflow_node.inputs, workflow_node.name, workflow_node.may_fail
from unnest(:number::bigint[], :run::bigint[]) as one (number, run) join run on run.id = one.run
join workflow_node on workflow_node.version = run.version and workflow_node.number = one.number
