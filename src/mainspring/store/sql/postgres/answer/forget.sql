-- Those that are over; the same key may have been used anew.
delete from idempotency_key using unnest(:key::text[], :until::bigint[]) as one (key, until)
where idempotency_key.key = one.key and idempotency_key.until = one.until
