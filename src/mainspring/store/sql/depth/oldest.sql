-- Since when the job of each queue that has waited longest could have gone: the first of each priority of each lane.
with recursive step (lane, queue, priority) as (
  select lane.id, lane.queue, (select min(ready.priority) from ready where ready.lane = lane.id) from lane
  union all
  select step.lane, step.queue,
    (select min(ready.priority) from ready where ready.lane = step.lane and ready.priority > step.priority)
  from step where step.priority is not null
)
select queue, min((select min(ready.due) from ready where ready.lane = step.lane and ready.priority = step.priority)) as oldest
from step where priority is not null group by queue
