-- How many jobs of each queue are in each state that is not an end, counted where they are.
select lane.queue, counted.state, cast(sum(counted.jobs) as bigint) as jobs
from (
  select lane, 'queued' as state, count(*) as jobs from ready group by lane
  union all select lane, state, count(*) from due group by lane, state
  union all select lane, 'running', count(*) from lease group by lane
) as counted join lane on lane.id = counted.lane
group by lane.queue, counted.state
