-- How many nodes of a run are active.
select count(*) as nodes from node where run = :run and state = 'active'
