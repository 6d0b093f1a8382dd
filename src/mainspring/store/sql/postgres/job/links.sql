-- Which of these jobs are of a run.
select id, run, node, item from job where id = any(translate(:jobs, '[]', '{}')::bigint[]) and run is not null
