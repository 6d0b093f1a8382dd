-- How many jobs of each lane and task are in each state, by their rows.
select job.lane, lane.queue, job.task,
  coalesce(job.state, case when lease.job is not null then 'running' when ready.job is not null then 'queued' else due.state end) as state,
  count(*) as jobs
from job join lane on lane.id = job.lane
left join lease on lease.job = job.id left join ready on ready.job = job.id left join due on due.job = job.id
group by 1, 2, 3, 4
