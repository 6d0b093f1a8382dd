-- Nested runs of a node that have not ended, in the order of their items.
select id, coalesce(parent_item, 0) as item from run
where parent_run = :run and parent_node = :node and state is null and coalesce(parent_item, 0) > :after
order by coalesce(parent_item, 0) limit :limit
