-- Nodes of a new run have the results of those of an old run.
insert into node (run, number, state, reason, at, finished, items, begun, succeeded, failed, cancelled, late, origin, origin_node)
select one.run, one.number, node.state, node.reason, node.at, node.finished, node.items, node.begun, node.succeeded, node.failed, node.cancelled, 0,
  coalesce(node.origin, node.run), coalesce(node.origin_node, node.number)
from unnest(:run::bigint[], :number::bigint[], :old::bigint[], :before::bigint[]) as one (run, number, old, before)
join node on node.run = one.old and node.number = one.before
