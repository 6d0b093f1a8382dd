-- Tables in a file that is not ours: of another program, as ours come together with the version table.
select count(*) as tables
from sqlite_schema
where type = 'table' and name not like 'sqlite\_%' escape '\'
  and not exists (select 1 from sqlite_schema where type = 'table' and name = 'schema_version')
