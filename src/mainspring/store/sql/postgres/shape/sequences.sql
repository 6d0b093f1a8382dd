-- Which column each sequence numbers: identity columns, and those whose default asks a sequence.
select format('%I.%I', nspname, sequence.relname), owner.relname, attname
from pg_depend join pg_class as sequence on sequence.oid = objid and sequence.relkind = 'S'
join pg_namespace on pg_namespace.oid = sequence.relnamespace
join pg_class as owner on owner.oid = refobjid join pg_attribute on attrelid = refobjid and attnum = refobjsubid
where pg_depend.classid = 'pg_class'::regclass and deptype in ('a', 'i') and nspname = current_schema()
union
select format('%I.%I', nspname, sequence.relname), owner.relname, attname
from pg_depend join pg_attrdef on pg_depend.classid = 'pg_attrdef'::regclass and pg_attrdef.oid = objid
join pg_class as sequence on sequence.oid = refobjid and sequence.relkind = 'S'
join pg_namespace on pg_namespace.oid = sequence.relnamespace
join pg_class as owner on owner.oid = adrelid join pg_attribute on attrelid = adrelid and attnum = adnum
where refclassid = 'pg_class'::regclass and nspname = current_schema()
