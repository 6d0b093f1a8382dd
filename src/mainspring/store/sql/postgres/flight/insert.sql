-- The jobs of ticks.
insert into flight (job, schedule, nominal, origin)
select * from unnest(:job::bigint[], :schedule::bigint[], :nominal::bigint[], :origin::text[])
