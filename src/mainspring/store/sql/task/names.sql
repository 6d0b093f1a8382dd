-- All full names.
select name from task order by name
