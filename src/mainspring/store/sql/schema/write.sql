-- The version that a migration has reached.
insert into schema_version (id, version, oldest_binary, updated) values (1, :version, :oldest_binary, :now)
on conflict (id) do update set version = excluded.version, oldest_binary = excluded.oldest_binary, updated = excluded.updated
