-- The user that has this name now.
select id, name, role, queues, created, created_by, used, removed, removed_by from account where name = :name and removed is null
