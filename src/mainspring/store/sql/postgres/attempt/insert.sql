-- Attempts are written once, when they end; the lease holds them until then.
insert into attempt (job, number, outcome, charge, worker, started, ended, sandbox, failure, details)
select * from unnest(:job::bigint[], :number::bigint[], :outcome::text[], :charge::text[], :worker::bigint[],
  :started::bigint[], :ended::bigint[], :sandbox::text[], :failure::text[], :details::text[])
