-- The end of an active node.
update node set state = :state, finished = :finished, failure = coalesce(:failure, failure) where run = :run and number = :number and state = 'active'
