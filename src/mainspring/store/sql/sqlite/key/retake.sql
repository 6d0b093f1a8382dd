-- A job takes a key over from one that has let it go.
update unique_key set job = :job, until_claim = :until_claim, until = :until
where task = :task and key = :key and job = :holder returning task, key
