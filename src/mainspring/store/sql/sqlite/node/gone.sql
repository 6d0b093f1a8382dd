-- Whether a node has left its place, or stands in line.
select run, number from node where run = :run and number = :number
union all select run, number from node_lined where run = :run and number = :number
