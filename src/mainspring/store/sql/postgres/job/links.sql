-- Which of these jobs are of a run. Each is looked up by its key: among those of runs the server would go through all.
select job.id, job.run, job.node, job.item
from unnest(translate(:jobs, '[]', '{}')::bigint[]) as one (id)
cross join lateral (select id, run, node, item from job where id = one.id limit 1) as job
where job.run is not null
