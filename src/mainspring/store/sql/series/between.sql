-- A metric between two instants; what is not told apart by is added up.
select at, case when cast(:by_queue as bigint) = 1 then queue else '' end as queue,
  case when cast(:by_task as bigint) = 1 then task else '' end as task,
  case when cast(:by_label as bigint) = 1 then label else '' end as label, bucket,
  cast(sum(number) as bigint) as number, cast(sum(total) as bigint) as total, max(most) as most,
  cast(sum(most) as bigint) as together,
  max(number) as looks
from series
where step = :step and metric = :metric and at >= :first and at < :until
  and (cast(:queue as text) is null or queue = :queue) and (cast(:task as text) is null or task = :task)
  and (cast(:label as text) is null or label = :label)
group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
