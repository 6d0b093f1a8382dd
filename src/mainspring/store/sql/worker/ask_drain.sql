-- Somebody wants this worker to end when its jobs have.
update worker set drain_at = :now, drain_by = :actor where id = :worker and drain_at is null
