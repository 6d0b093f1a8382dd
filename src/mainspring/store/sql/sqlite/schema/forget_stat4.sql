-- The finer kind, which some libraries write.
drop table if exists sqlite_stat4
