-- Items of maps have ended. Rows are locked in the order of their keys, and each is looked up by it.
with held as (
  select node.run, node.number, one.succeeded, one.failed, one.cancelled
  from (
    select * from unnest(:succeeded::bigint[], :failed::bigint[], :cancelled::bigint[], :run::bigint[], :number::bigint[])
      as each (succeeded, failed, cancelled, run, number) order by run, number
  ) as one cross join lateral (
    select run, number from node where run = one.run and number = one.number and state = 'active' limit 1 for update) as node)
update node set succeeded = node.succeeded + held.succeeded, failed = node.failed + held.failed, cancelled = node.cancelled + held.cancelled
from held where node.run = held.run and node.number = held.number
returning node.run, node.number, node.items, node.begun, node.succeeded, node.failed, node.cancelled
