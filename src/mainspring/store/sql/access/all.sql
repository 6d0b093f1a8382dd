-- Every token, newest first.
select id, name, role, created, created_by, expires, used, revoked, revoked_by, queues from token order by id desc
