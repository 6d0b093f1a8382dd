-- The results of those items of maps that need not be done again.
select node.run, node.number, node_part.item, coalesce(job.result, nested.result) as result
from unnest(:run::bigint[], :number::bigint[]) as one (run, number) join node on node.run = one.run and node.number = one.number
join node_part on node_part.run = coalesce(node.origin, node.run) and node_part.number = coalesce(node.origin_node, node.number)
left join job on job.id = node_part.source left join run as nested on nested.id = node_part.source
where node_part.again is null
