-- The newest generation.
select coalesce(max(generation), 0) from task
