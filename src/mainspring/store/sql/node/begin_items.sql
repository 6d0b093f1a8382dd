-- So many items of a map have jobs now.
update node set begun = :begun where run = :run and number = :number
