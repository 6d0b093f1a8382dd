-- Whether a node has left its place.
select run, number from node where run = :run and number = :number
