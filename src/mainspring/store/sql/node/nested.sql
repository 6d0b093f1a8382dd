-- The nested runs of some nodes of a run.
select parent_node as node, id, parent_item as item, created from run
where parent_run = :run and parent_node > :first and parent_node <= :last order by parent_node, parent_item, id limit :limit
