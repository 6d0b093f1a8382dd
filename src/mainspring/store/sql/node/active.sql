-- Nodes of a run that are active, and went before it was told to stop.
select number, items, begun from node
where run = :run and state = 'active' and late = 0 and number > :after order by number limit :limit
