-- A version without its nodes.
select hash, header, nodes from workflow_version where id = :version
