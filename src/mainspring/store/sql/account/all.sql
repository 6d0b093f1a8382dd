-- Every user, by name, removed ones last.
select id, name, role, queues, created, created_by, used, removed, removed_by from account order by removed is not null, name, id
