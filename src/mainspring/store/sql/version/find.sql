-- A version of a document by its hash.
select id, whole, idle from workflow_version where hash = :hash
