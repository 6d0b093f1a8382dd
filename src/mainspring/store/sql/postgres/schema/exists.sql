-- Whether our schema is there; to make one, even "if not exists", takes a right that a role need not have later.
select count(*) as schemas from pg_namespace where nspname = :schema
