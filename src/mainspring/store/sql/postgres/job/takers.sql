-- Those of these jobs whose parameters take something from their run, and what.
select job.id, job.run, job.node, job.item, job.params, job.wants
from unnest(translate(:jobs, '[]', '{}')::bigint[]) as one (id)
cross join lateral (select id, run, node, item, params, wants from job where id = one.id limit 1) as job
where job.wants is not null order by job.id desc
