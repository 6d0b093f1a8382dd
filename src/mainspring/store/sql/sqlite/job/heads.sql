-- The first jobs over several lanes (each from a mark on, and at most so many): a queue of the lanes' next ones, of which
-- the best is taken out and followed by the next of its lane. Only sums are compared by the index, plain columns would not be.
with recursive best (lane, priority, due, job, most) as (
  select ready.lane, ready.priority, ready.due, ready.job, json_extract(value, '$[4]')
  from json_each(:lanes) cross join ready on ready.job = (
    select job from ready as first
    where first.lane = json_extract(value, '$[0]') and (first.priority, first.due, first.job)
      >= (json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'))
    order by first.priority, first.due, first.job limit 1)
  union all
  select ready.lane, ready.priority, ready.due, ready.job, best.most - 1
  from best cross join ready on ready.job = (
    select job from ready as following
    where following.lane = best.lane and (following.priority, following.due, following.job)
      >= (best.priority + 0, best.due + 0, best.job + 1)
    order by following.priority, following.due, following.job limit 1)
  where best.most > 1
  order by 2, 3, 4 limit :total
)
select lane, priority, due, job from best
