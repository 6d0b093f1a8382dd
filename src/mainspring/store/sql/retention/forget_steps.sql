-- Some nodes of a version that goes.
delete from workflow_node where version = :version and number in
  (select number from workflow_node where version = :version order by number limit :limit) returning number
