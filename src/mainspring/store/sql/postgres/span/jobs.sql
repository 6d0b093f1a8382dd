-- Where jobs come from.
select id, parent, run, created, tags from job where id = any(translate(:jobs, '[]', '{}')::bigint[])
