-- What the server itself knows to be wrong: indexes that can't be used, constraints not checked, pages that fail their checksum.
select 'index ' || relname || ' is not valid: reindex it' as problem
from pg_index join pg_class on pg_class.oid = indexrelid join pg_namespace on pg_namespace.oid = relnamespace
where nspname = current_schema() and not indisvalid
union all
select 'constraint ' || conname || ' is not validated' from pg_constraint join pg_namespace on pg_namespace.oid = connamespace
where nspname = current_schema() and not convalidated
union all
select checksum_failures || ' pages failed their checksum, the last at ' || checksum_last_failure
from pg_stat_database where datname = current_database() and checksum_failures > 0
