-- Some parts of a run that goes.
delete from node_part where run = :run and (number, item) in
  (select number, item from node_part where run = :run order by number, item limit :limit) returning item
