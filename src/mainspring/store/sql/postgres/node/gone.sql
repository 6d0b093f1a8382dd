-- Which of these nodes have left their place, or stand in line.
select node.run, node.number from unnest(:run::bigint[], :number::bigint[]) as one (run, number)
join node on node.run = one.run and node.number = one.number
union all
select node_lined.run, node_lined.number from unnest(:run::bigint[], :number::bigint[]) as one (run, number)
join node_lined on node_lined.run = one.run and node_lined.number = one.number
