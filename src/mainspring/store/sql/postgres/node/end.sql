-- The end of active nodes: those that have none. Said so that the server does not suppose these to be a handful that are
-- quickly gone through, as it does of a new table: each is looked up by its key.
update node set state = one.state, finished = one.finished, failure = coalesce(one.failure, node.failure)
from unnest(:state::text[], :finished::bigint[], :failure::text[], :run::bigint[], :number::bigint[]) as one (state, finished, failure, run, number)
where node.run = one.run and node.number = one.number and case when node.finished is null then true end
