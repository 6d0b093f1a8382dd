-- What a stretch of history says of jobs: moves by minute, queue, task and outcome, with how long they had waited, run, or
-- come late by. The bounds of the buckets are those of domain/metric.py.
select minute, lane, queue, task, source, target, outcome,
  case when spent is null then -1
    when spent <= 1000 then 0 when spent <= 2500 then 1 when spent <= 5000 then 2
    when spent <= 10000 then 3 when spent <= 25000 then 4 when spent <= 50000 then 5
    when spent <= 100000 then 6 when spent <= 250000 then 7 when spent <= 500000 then 8
    when spent <= 1000000 then 9 when spent <= 2500000 then 10 when spent <= 5000000 then 11
    when spent <= 10000000 then 12 when spent <= 30000000 then 13 when spent <= 60000000 then 14
    when spent <= 300000000 then 15 when spent <= 1800000000 then 16 when spent <= 3600000000 then 17
    else 18 end as bucket,
  count(*) as number, cast(coalesce(sum(spent), 0) as bigint) as total, coalesce(max(spent), 0) as most
from (
  select event.at - event.at % 60000000 as minute, job.lane, lane.queue, job.task, event.source, event.target,
    coalesce(attempt.outcome, '') as outcome,
    case when event.source = 'running' then attempt.ended - attempt.started
      when event.source = 'new' then event.at - flight.nominal
      when event.target = 'running' and event.attempt = 1 then
        case when event.at <= job.due or event.at <= job.created then 0
          when job.due > job.created then event.at - job.due else event.at - job.created end
      end as spent
  from event join job on job.id = event.job join lane on lane.id = job.lane
  left join attempt on attempt.job = event.job and attempt.number = event.attempt and event.source = 'running'
  left join flight on flight.job = event.job and event.source = 'new' and flight.origin = 'regular'
  where event.seq > :after and event.seq <= :until and event.job > 0
) as moved
group by 1, 2, 3, 4, 5, 6, 7, 8
