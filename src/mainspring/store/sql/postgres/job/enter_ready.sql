-- enters: ready
-- causes: submit, promote, lose, requeue, release
insert into ready (job, lane, priority, due, attempt, since)
select * from unnest(:job::bigint[], :lane::bigint[], :priority::bigint[], :due::bigint[], :attempt::bigint[],
  :since::bigint[])
