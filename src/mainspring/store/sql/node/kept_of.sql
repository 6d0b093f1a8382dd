-- Nodes that a run began with, in order.
select number, state, reason from node where run = :run and origin is not null and number > :after order by number limit :limit
