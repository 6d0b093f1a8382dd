-- The end of an active node.
update node set state = :state, finished = :finished, failure = :failure where run = :run and number = :number and state = 'active'
