-- In somebody else's transaction names mean our tables for a moment: what they meant before, which server it is, the time.
with before as materialized (select current_setting('search_path') as path)
select before.path, current_database() || '/' || (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as server,
  (extract(epoch from clock_timestamp()) * 1000000)::bigint as now, set_config('search_path', :path, true) as entered
from before
