-- Some nodes of a run that goes.
delete from node where run = :run and number in (select number from node where run = :run order by number limit :limit) returning number
