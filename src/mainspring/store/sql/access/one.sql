-- A token by its number.
select id, name, role, created, created_by, expires, used, revoked, revoked_by from token where id = :token
