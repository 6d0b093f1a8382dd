-- The first nodes of a run that stand in line for room.
select number from node_lined where run = :run order by number limit :limit
