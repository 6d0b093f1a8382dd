-- A version begins to go, or goes on to; none where something refers to it again.
update workflow_version set whole = 0 where id = :version and idle < :before and (select 1 from workflow where workflow.version = workflow_version.id limit 1) is null
  and (select 1 from run where run.version = workflow_version.id limit 1) is null
  and (select 1 from node_part where node_part.version = workflow_version.id limit 1) is null returning id
