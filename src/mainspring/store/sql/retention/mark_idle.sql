-- Versions that nothing refers to.
update workflow_version set idle = :now where idle is null and (select 1 from workflow where workflow.version = workflow_version.id limit 1) is null
  and (select 1 from run where run.version = workflow_version.id limit 1) is null
  and (select 1 from node_part where node_part.version = workflow_version.id limit 1) is null
