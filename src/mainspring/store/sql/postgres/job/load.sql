-- What a worker needs to run these jobs.
select id, task, policy, params, expires from job
where id in (select value::bigint from json_array_elements_text(:jobs::json))
