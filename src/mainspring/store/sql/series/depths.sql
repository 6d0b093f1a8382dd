-- How many jobs of each queue are in each state that is not an end, and since when the oldest of them could go.
select lane.queue, counted.state, cast(sum(counted.jobs) as bigint) as jobs, min(counted.oldest) as oldest
from (
  select lane, 'queued' as state, count(*) as jobs, min(due) as oldest from ready group by lane
  union all select lane, state, count(*), min(at) from due group by lane, state
  union all select lane, 'running', count(*), min(since) from lease group by lane
) as counted join lane on lane.id = counted.lane
group by lane.queue, counted.state
