-- A schedule counts as made now.
update schedule set created = :now where id = :schedule
