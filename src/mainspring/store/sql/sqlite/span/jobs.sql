-- Where jobs come from.
select id, parent, run, created, tags from job where id in (select value from json_each(:jobs))
