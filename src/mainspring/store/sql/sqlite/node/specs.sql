-- What a node is.
select run.id as run, workflow_node.number, workflow_node.document, workflow_node.inputs, workflow_node.name, workflow_node.may_fail
from run join workflow_node on workflow_node.version = run.version and workflow_node.number = :number where run.id = :run
