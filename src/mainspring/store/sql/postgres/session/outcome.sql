-- What became of a transaction whose answer got lost.
select pg_xact_status(:number::xid8) as status, extract(epoch from pg_postmaster_start_time())::text as started
