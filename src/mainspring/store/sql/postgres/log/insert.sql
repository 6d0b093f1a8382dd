-- Chunks of the output of jobs.
insert into log (job, seq, attempt, at, stream, level, text)
select * from unnest(:job::bigint[], :seq::bigint[], :attempt::bigint[], :at::bigint[], :stream::text[], :level::text[],
  :text::text[])
