-- leaves: due
-- causes: promote
delete from due where job in (
  select job from due where at <= :now order by at, job limit :limit for update skip locked)
returning job, lane, priority, attempt, since, state, at
