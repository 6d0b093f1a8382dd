-- The catalog.
select declaration from task order by name
