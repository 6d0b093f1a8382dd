-- Statistics that somebody's ANALYZE has left. Taken while the tables were small, they turn claims into scans for ever.
select name from sqlite_schema where type = 'table' and name in ('sqlite_stat1', 'sqlite_stat4')
