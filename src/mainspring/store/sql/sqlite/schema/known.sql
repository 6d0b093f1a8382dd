-- Whether the version table is there. Asked by a statement, as a look at the connection's own schema may be out of date.
select count(*) as tables
from sqlite_schema
where type = 'table' and name = 'schema_version'
