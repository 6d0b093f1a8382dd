-- Nodes that stand in line no more.
delete from node_lined using unnest(:run::bigint[], :number::bigint[]) as one (run, number)
where node_lined.run = one.run and node_lined.number = one.number
