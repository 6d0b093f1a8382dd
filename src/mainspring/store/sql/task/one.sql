-- A task by its full name.
select declaration from task where name = :name
