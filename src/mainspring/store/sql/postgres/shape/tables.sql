-- Every column of every table of ours, with its place in the key (0: none).
select relname, attname, coalesce(array_position(conkey, attnum), 0)
from pg_class join pg_namespace on pg_namespace.oid = relnamespace
join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
left join pg_constraint on conrelid = pg_class.oid and contype = 'p'
where nspname = current_schema() and relkind = 'r'
order by relname, attnum
