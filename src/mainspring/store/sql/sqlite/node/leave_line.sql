-- A node stands in line no more.
delete from node_lined where run = :run and number = :number
