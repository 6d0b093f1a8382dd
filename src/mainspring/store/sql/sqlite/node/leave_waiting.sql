-- All needs of a node have ended.
delete from node_waiting where run = :run and number = :number
