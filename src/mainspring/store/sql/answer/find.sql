-- What a submit with this idempotency key was answered.
select digest, answer, until from idempotency_key where key = :key
