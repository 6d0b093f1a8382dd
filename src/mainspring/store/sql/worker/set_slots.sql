-- A worker has another number of slots.
update worker set slots = :slots where id = :worker
