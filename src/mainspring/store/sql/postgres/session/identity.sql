-- Which process serves this session, since when its server runs, and whether that is a replica.
select pg_backend_pid() as pid, pg_postmaster_start_time()::text as started, current_setting('server_version_num')::int as version
