-- The next job id.
select last_value + is_called::int from job_id
