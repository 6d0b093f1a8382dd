-- The first job of each of these lanes from its mark on.
select first.lane, first.priority, first.due, first.job
from json_array_elements(:lanes::json) as one (mark) cross join lateral (
  select lane, priority, due, job from ready
  where lane = (mark ->> 0)::bigint and (priority, due, job) >= ((mark ->> 1)::bigint, (mark ->> 2)::bigint, (mark ->> 3)::bigint)
  order by priority, due, job limit 1) as first
order by first.priority, first.due, first.job
