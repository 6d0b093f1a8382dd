-- The results of those items of a map that need not be done again.
select node.run, node.number, node_part.item, coalesce(job.result, nested.result) as result
from node join node_part on node_part.run = coalesce(node.origin, node.run) and node_part.number = coalesce(node.origin_node, node.number)
left join job on job.id = node_part.source left join run as nested on nested.id = node_part.source
where node_part.again is null and node.run = :run and node.number = :number
