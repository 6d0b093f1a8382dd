-- enters: ready
-- causes: submit, promote, lose, requeue, release
insert into ready (job, lane, priority, due, attempt, since)
select unnest(:job::bigint[]), unnest(:lane::bigint[]), unnest(:priority::bigint[]), unnest(:due::bigint[]),
  unnest(:attempt::bigint[]), unnest(:since::bigint[])
