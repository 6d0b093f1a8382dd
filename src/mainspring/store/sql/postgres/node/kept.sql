-- Which of these nodes their runs began with.
select node.run, node.number from unnest(:run::bigint[], :number::bigint[]) as one (run, number)
join node on node.run = one.run and node.number = one.number and node.origin is not null
