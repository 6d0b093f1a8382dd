-- A token opens nothing any more.
update token set revoked = :now, revoked_by = :actor where id = :token and revoked is null
