-- How much is kept of a job's output, and the last line number.
select coalesce(sum(length(cast(text as blob))), 0), coalesce(max(seq), 0) from log where job = :job
