-- Whether a run began with this node.
select run, number from node where run = :run and number = :number and origin is not null
