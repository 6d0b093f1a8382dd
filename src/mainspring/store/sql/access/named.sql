-- The token that has this name now.
select id, name, role, created, created_by, expires, used, revoked, revoked_by, queues
from token where name = :name and revoked is null
