-- A wish, not a move: the end of the attempt reads it.
update lease set cancel_at = coalesce(cancel_at, :now), cancel_by = coalesce(cancel_by, :actor)
where job = :job returning job
