-- Records.
insert into record (seq, at, process, pid, level, source, message, job, attempt, run, worker, trace, request)
select * from unnest(:seq::bigint[], :at::bigint[], :process::text[], :pid::bigint[], :level::bigint[], :source::text[],
  :message::text[], :job::bigint[], :attempt::bigint[], :run::bigint[], :worker::bigint[], :trace::text[],
  :request::text[])
