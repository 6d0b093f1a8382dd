-- An owner keeps its lease, also an expired one that nobody took.
update lease set until = one.until
from unnest(:until::bigint[], :job::bigint[], :claim::bigint[]) as one (until, job, claim)
where lease.job = one.job and lease.claim = one.claim returning lease.job
