-- The declarations of some tasks by their full names.
select name, declaration from task where name in (select json_array_elements_text(:names::json))
