-- Items of maps have ended. Rows are locked in the order of their keys.
with held as (
  select node.run, node.number, one.succeeded, one.failed, one.cancelled
  from unnest(:succeeded::bigint[], :failed::bigint[], :cancelled::bigint[], :run::bigint[], :number::bigint[]) as one (succeeded, failed, cancelled, run, number)
  join node on node.run = one.run and node.number = one.number and node.state = 'active'
  order by node.run, node.number for update of node)
update node set succeeded = node.succeeded + held.succeeded, failed = node.failed + held.failed, cancelled = node.cancelled + held.cancelled
from held where node.run = held.run and node.number = held.number
returning node.run, node.number, node.items, node.begun, node.succeeded, node.failed, node.cancelled
