-- A token by its number.
select id, name, role, created, created_by, expires, used, revoked, revoked_by, queues from token where id = :token
