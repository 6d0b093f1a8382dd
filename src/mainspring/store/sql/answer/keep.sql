-- Remember it, in the submit's own transaction. Whoever comes second fails here and finds the first.
insert into idempotency_key (key, digest, answer, until) values (:key, :digest, :answer, :until)
