-- Which of these lanes (each with its mark) have a job from the mark on, the one with the best first.
select first.lane from json_array_elements(:lanes::json) as one (mark) cross join lateral (
  select lane, priority, due, job from ready
  where lane = (mark ->> 0)::bigint and (priority, due, job) >= ((mark ->> 1)::bigint, (mark ->> 2)::bigint, (mark ->> 3)::bigint)
  order by priority, due, job limit 1) as first
order by first.priority, first.due, first.job
