-- What some nodes (run, number) are.
select run.id as run, workflow_node.number, workflow_node.document, workflow_node.inputs, workflow_node.name, workflow_node.may_fail
from json_each(:nodes) as one cross join run on run.id = one.value ->> 0
cross join workflow_node on workflow_node.version = run.version and workflow_node.number = one.value ->> 1
