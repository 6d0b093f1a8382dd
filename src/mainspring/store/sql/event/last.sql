-- The newest cursor.
select coalesce(max(seq), 0) from event
