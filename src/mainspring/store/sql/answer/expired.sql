-- Answers that need no longer be remembered.
select key, until from idempotency_key where until <= :now order by until limit :limit
