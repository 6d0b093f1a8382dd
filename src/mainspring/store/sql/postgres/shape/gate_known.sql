-- Whether a move was begun here.
select count(*) as tables from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where nspname = current_schema() and relname = 'relocation'
