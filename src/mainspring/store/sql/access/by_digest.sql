-- The token with this secret.
select id, name, role, created, created_by, expires, used, revoked, revoked_by, queues from token where digest = :digest
