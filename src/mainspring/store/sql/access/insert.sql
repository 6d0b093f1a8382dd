-- A new token.
insert into token (name, role, digest, created, created_by, expires)
values (:name, :role, :digest, :now, :actor, :expires) returning id
