-- Which process serves this session, the version of its server, which server and database it is, and whether we may
-- write what has no meaning into its log (session/flush).
select pg_backend_pid() as pid, current_setting('server_version_num')::int as version,
  current_database() || '/' || (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as server,
  exists (select 1 from pg_proc where proname = 'pg_logical_emit_message' and has_function_privilege(oid, 'execute'))
    as may_flush
