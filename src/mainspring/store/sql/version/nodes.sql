-- Nodes of a version as they were written, in order.
select number, name, document from workflow_node
where version = :version and number > :after and document <> '' order by number limit :limit
