-- What nodes of a run that goes had counted.
delete from node_waiting where run = :run
