-- The results of nodes, by item: of their own jobs or nested runs, or of those that they keep from another run.
select node.run, node.number, node.state, node.items, coalesce(job.item, nested.parent_item) as item,
  coalesce(job.state, nested.state) as job_state, coalesce(job.result, nested.result) as result
from unnest(:run::bigint[], :number::bigint[]) as one (run, number) join node on node.run = one.run and node.number = one.number
left join job on job.run = coalesce(node.origin, node.run) and job.node = coalesce(node.origin_node, node.number) and job.state = 'succeeded'
left join run as nested on nested.parent_run = coalesce(node.origin, node.run) and nested.parent_node = coalesce(node.origin_node, node.number) and nested.state = 'succeeded'
order by node.run, node.number, item
