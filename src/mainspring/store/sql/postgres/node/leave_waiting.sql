-- All needs of these nodes have ended.
delete from node_waiting using unnest(:run::bigint[], :number::bigint[]) as one (run, number)
where node_waiting.run = one.run and node_waiting.number = one.number
