-- The jobs of some nodes of a run.
select job.node, job.id, job.item, coalesce(job.state, 'running') as state,
  coalesce(job.started, lease.since) as started, job.finished
from job left join lease on lease.job = job.id
where job.run = :run and job.node > :first and job.node <= :last order by job.node, job.item limit :limit
