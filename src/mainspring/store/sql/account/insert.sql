-- A new user.
insert into account (name, role, queues, password, created, created_by)
values (:name, :role, :queues, :password, :now, :actor) returning id
