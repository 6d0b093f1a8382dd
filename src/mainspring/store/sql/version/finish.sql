-- Every node and edge is there.
update workflow_version set whole = 1 where id = :version
