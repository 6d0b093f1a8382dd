-- A node of a new run has the result of one of an old run.
insert into node (run, number, state, reason, at, finished, items, begun, succeeded, failed, cancelled, late, origin, origin_node)
select :run, :number, state, reason, at, finished, items, begun, succeeded, failed, cancelled, 0, coalesce(origin, run), coalesce(origin_node, number)
from node where run = :old and number = :before
