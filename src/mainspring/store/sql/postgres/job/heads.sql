-- The first jobs over several lanes (each from a mark on, and at most so many) that nobody else is taking just now, held
-- until this transaction ends.
select best.lane, best.priority, best.due, best.job from (
  select one.lane, first.priority, first.due, first.job
  from (
    select (mark ->> 0)::bigint as lane, (mark ->> 1)::bigint as priority, (mark ->> 2)::bigint as due,
      (mark ->> 3)::bigint as job, (mark ->> 4)::bigint as most
    from json_array_elements(:lanes::json) as each (mark)
  ) as one cross join lateral (
    select priority, due, job from ready
    where lane = one.lane and (priority, due, job) >= (one.priority, one.due, one.job)
    order by priority, due, job limit one.most
  ) as first
  order by first.priority, first.due, first.job
) as best join ready on ready.job = best.job
order by best.priority, best.due, best.job limit :total for update of ready skip locked
