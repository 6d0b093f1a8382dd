-- Which process serves this session, and the version of its server.
select pg_backend_pid() as pid, current_setting('server_version_num')::int as version
