-- enters: due
-- causes: schedule, retry
insert into due (job, at, state, lane, priority, attempt, since)
select * from unnest(:job::bigint[], :at::bigint[], :state::text[], :lane::bigint[], :priority::bigint[], :attempt::bigint[],
  :since::bigint[])
