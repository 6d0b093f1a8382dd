-- Pause a schedule; one that is paused already stays as it is.
update schedule set paused_at = :now, paused_by = :by, note = :note where id = :schedule and paused_at is null
