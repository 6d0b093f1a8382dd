-- Which process serves this session, the version of its server, and which server and database it is.
select pg_backend_pid() as pid, current_setting('server_version_num')::int as version,
  current_database() || '/' || (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as server
