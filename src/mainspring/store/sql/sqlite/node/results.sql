-- The results of a node, by item: of its own jobs or nested runs, or of those that it keeps from another run.
select node.run, node.number, node.state, node.items, coalesce(job.item, nested.parent_item) as item,
  coalesce(job.state, nested.state) as job_state, coalesce(job.result, nested.result) as result
from node left join job on job.run = coalesce(node.origin, node.run) and job.node = coalesce(node.origin_node, node.number) and job.state = 'succeeded'
left join run as nested on nested.parent_run = coalesce(node.origin, node.run) and nested.parent_node = coalesce(node.origin_node, node.number) and nested.state = 'succeeded'
where node.run = :run and node.number = :number order by item
