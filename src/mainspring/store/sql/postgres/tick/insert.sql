-- What became of ticks. Their key is the guard: those that another scheduler has decided are left as they are.
insert into tick (schedule, nominal, origin, ticks, last, outcome, why, job, run, decided, decided_by)
select * from unnest(:schedule::bigint[], :nominal::bigint[], :origin::text[], :ticks::bigint[], :last::bigint[], :outcome::text[],
  :why::text[], :job::bigint[], :run::bigint[], :decided::bigint[], :decided_by::text[])
on conflict do nothing
