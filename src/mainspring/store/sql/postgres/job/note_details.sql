-- What the running code last said of its progress.
update lease set details = one.details
from unnest(:details::text[], :job::bigint[], :claim::bigint[]) as one (details, job, claim)
where lease.job = one.job and lease.claim = one.claim
