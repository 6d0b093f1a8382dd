-- Which version the tables are in.
select version, oldest_binary from schema_version
