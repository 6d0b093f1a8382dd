-- The results of nodes, by item: of their own jobs, or of those that they keep from another run.
select node.run, node.number, node.state, node.items, job.item, job.state as job_state, job.result
from unnest(:run::bigint[], :number::bigint[]) as one (run, number) join node on node.run = one.run and node.number = one.number
left join job on job.run = coalesce(node.origin, node.run) and job.node = node.number and job.state = 'succeeded'
order by node.run, node.number, job.item
