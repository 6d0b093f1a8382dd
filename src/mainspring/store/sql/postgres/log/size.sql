-- How much is kept of a job's output, and the last line number.
select coalesce(sum(octet_length(text)), 0)::bigint as bytes, coalesce(max(seq), 0) as seq from log where job = :job
