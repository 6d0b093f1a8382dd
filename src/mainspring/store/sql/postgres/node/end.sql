-- The end of active nodes.
update node set state = one.state, finished = one.finished, failure = coalesce(one.failure, node.failure)
from unnest(:state::text[], :finished::bigint[], :failure::text[], :run::bigint[], :number::bigint[]) as one (state, finished, failure, run, number)
where node.run = one.run and node.number = one.number and node.state = 'active'
