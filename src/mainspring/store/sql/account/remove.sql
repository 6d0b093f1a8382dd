-- A user may nothing any more.
update account set removed = :now, removed_by = :actor where id = :account and removed is null
