-- The first of the moves that are not counted yet, by lane and task; those of runs have neither.
select job.lane, lane.queue, job.task, fresh.source, fresh.target, count(*) as number
from (
  select job, source, target from event where seq > coalesce((select cursor from reader where name = :reader), -1)
  order by seq limit :limit
) as fresh left join job on job.id = fresh.job left join lane on lane.id = job.lane
group by job.lane, lane.queue, job.task, fresh.source, fresh.target
