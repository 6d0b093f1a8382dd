-- Every queue that a job or an operator has named, and how many of its jobs are where.
select known.name, queue.most, queue.paused_at, queue.paused_by, queue.note,
  cast(coalesce(sum(counted.queued), 0) as bigint) as queued,
  cast(coalesce(sum(counted.scheduled), 0) as bigint) as scheduled,
  cast(coalesce(sum(counted.retrying), 0) as bigint) as retrying,
  cast(coalesce(sum(counted.running), 0) as bigint) as running
from (select queue as name from lane union select name from queue) as known
left join queue on queue.name = known.name
left join lane on lane.queue = known.name
left join (
  select lane, count(*) as queued, 0 as scheduled, 0 as retrying, 0 as running from ready group by lane
  union all
  select lane, 0, sum(case state when 'scheduled' then 1 else 0 end), sum(case state when 'retrying' then 1 else 0 end), 0
  from due group by lane
  union all
  select lane, 0, 0, 0, count(*) from lease group by lane
) as counted on counted.lane = lane.id
group by known.name, queue.most, queue.paused_at, queue.paused_by, queue.note
order by known.name
