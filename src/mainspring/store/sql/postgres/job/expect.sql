-- Remember when jobs must have started.
insert into expiry (job, at) select * from unnest(:job::bigint[], :at::bigint[])
