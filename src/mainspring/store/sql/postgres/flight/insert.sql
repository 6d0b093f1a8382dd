-- The jobs of ticks.
insert into flight (job, schedule, nominal, origin)
select unnest(:job::bigint[]), unnest(:schedule::bigint[]), unnest(:nominal::bigint[]), unnest(:origin::text[])
