-- A version is about to be referred to; none where it has begun to go.
update workflow_version set idle = null where id = :version and whole = 1 returning id
