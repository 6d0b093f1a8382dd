-- Every column of every table of ours, with its place in the key (0: none).
select tables.name, columns.name, columns.pk
from sqlite_schema as tables, pragma_table_info(tables.name) as columns
where tables.type = 'table' and tables.name not like 'sqlite\_%' escape '\'
order by tables.name, columns.cid
