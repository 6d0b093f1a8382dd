-- An owner keeps its lease, also an expired one that nobody took. Never shortens it.
update lease set until = max(until, :until) where job = :job and claim = :claim returning job
