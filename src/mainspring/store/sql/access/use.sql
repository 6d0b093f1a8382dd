-- A token was used.
update token set used = :now where id = :token and (used is null or used < :before)
