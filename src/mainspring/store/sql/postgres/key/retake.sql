-- Jobs take keys over from those that have let them go; who comes second finds another holder.
update unique_key set job = one.job, until_claim = one.until_claim, until = one.until
from unnest(:job::bigint[], :until_claim::bigint[], :until::bigint[], :task::text[], :key::text[], :holder::bigint[])
  as one (job, until_claim, until, task, key, holder)
where unique_key.task = one.task and unique_key.key = one.key and unique_key.job = one.holder
returning unique_key.task, unique_key.key
