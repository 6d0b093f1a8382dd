-- The results of a node, by item: of its own jobs, or of those that it keeps from another run.
select node.run, node.number, node.state, node.items, job.item, job.state as job_state, job.result
from node left join job on job.run = coalesce(node.origin, node.run) and job.node = node.number and job.state = 'succeeded'
where node.run = :run and node.number = :number order by job.item
