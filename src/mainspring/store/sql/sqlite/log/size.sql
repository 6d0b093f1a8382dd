-- How much is kept of a job's output, and the last line number.
select coalesce(sum(length(cast(text as blob))), 0) as bytes, coalesce(max(seq), 0) as seq from log where job = :job
