-- Which of these jobs are of a run.
select id, run, node, item from job where id in (select value from json_each(:jobs)) and run is not null
