-- Jobs of a node that have not ended, in the order of their items.
select id, coalesce(item, 0) as item from job
where run = :run and node = :node and state is null and coalesce(item, 0) > :after order by coalesce(item, 0) limit :limit
