-- One that is over; the same key may have been used anew.
delete from idempotency_key where key = :key and until = :until
