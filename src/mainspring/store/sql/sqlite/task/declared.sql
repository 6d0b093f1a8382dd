-- The declarations of some tasks by their full names.
select name, declaration from task where name in (select value from json_each(:names))
