-- A version that goes, last, so that nothing of it is left behind.
delete from workflow_version where id = :version returning id
