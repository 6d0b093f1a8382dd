-- A backfill has come so far; whether it had still been where it was seen.
update backfill set made = :made, place = :place, ended = :ended
where id = :backfill and made = :before and ended is null
returning id
