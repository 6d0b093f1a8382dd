-- End the session that a transaction is open in.
select pg_terminate_backend(pid) from pg_stat_activity where backend_xid = :number::xid8::xid
