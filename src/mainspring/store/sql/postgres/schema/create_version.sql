-- One row: which version the tables are in, and the oldest mainspring that may use them.
create table schema_version (
  id integer primary key check (id = 1),
  version bigint not null,
  oldest_binary text not null,
  updated bigint not null
)
