-- A new token.
insert into token (name, role, digest, created, created_by, expires, queues)
values (:name, :role, :digest, :now, :actor, :expires, :queues) returning id
