-- All that is said of a schedule.
update schedule set origin = :origin, app = :app, generation = :generation, declaration = :declaration, override = :override,
  changed = :now, paused_at = :paused_at, paused_by = :paused_by, note = :note, withdrawn_at = :withdrawn_at,
  removed_at = :removed_at
where id = :schedule
