-- Versions that something refers to again.
update workflow_version set idle = null where idle is not null and not ((select 1 from workflow where workflow.version = workflow_version.id limit 1) is null
  and (select 1 from run where run.version = workflow_version.id limit 1) is null
  and (select 1 from node_part where node_part.version = workflow_version.id limit 1) is null)
