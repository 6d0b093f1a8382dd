-- What a name stands for.
select workflow.name, workflow.version, workflow_version.hash, workflow_version.header, workflow_version.nodes, workflow.changed
from workflow join workflow_version on workflow_version.id = workflow.version where name = :name
