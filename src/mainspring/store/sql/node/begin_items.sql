-- So many items of a map have begun; why the first that could not begin could not.
update node set begun = :begun, failure = coalesce(failure, :failure) where run = :run and number = :number
