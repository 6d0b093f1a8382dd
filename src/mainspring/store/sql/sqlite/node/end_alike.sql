-- The end of active nodes (a list) that end alike. The sign keeps their state out of the way that they are found by.
update node set state = :state, finished = :finished, failure = coalesce(:failure, failure)
where run = :run and number in (select value from json_each(:number)) and +state = 'active'
