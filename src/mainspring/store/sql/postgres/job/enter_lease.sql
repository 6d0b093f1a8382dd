-- enters: leased
-- causes: claim
insert into lease (job, claim, attempt, worker, until, since, lane, priority)
select * from unnest(:job::bigint[], :claim::bigint[], :attempt::bigint[], :worker::bigint[], :until::bigint[],
  :since::bigint[], :lane::bigint[], :priority::bigint[])
