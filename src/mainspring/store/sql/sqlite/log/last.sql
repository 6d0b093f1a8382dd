-- The number of the last line of each of these jobs.
select value as job, coalesce((select max(seq) from log where job = value), 0) as seq from json_each(:jobs)
