-- What a worker needs to run these jobs.
select id, task, policy, params, expires, tick, run, node, item, wants from job
where id in (select value from json_each(:jobs))
