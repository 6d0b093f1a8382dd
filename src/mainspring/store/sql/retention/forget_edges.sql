-- Some edges of a version that goes.
delete from workflow_edge where version = :version and (source, target) in
  (select source, target from workflow_edge where version = :version order by source, target limit :limit) returning source
