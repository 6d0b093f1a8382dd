-- A version that nothing has referred to for long.
select id from workflow_version where idle < :before order by id limit 1
