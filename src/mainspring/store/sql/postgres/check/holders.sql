-- Who keeps old rows from being cleared, the oldest first: sessions, prepared transactions, replication slots.
-- Seconds are null where nobody knows them.
select 'session' as kind, 'pid ' || pid || coalesce(', ' || nullif(application_name, ''), '') as name,
  age(backend_xmin)::bigint as transactions, extract(epoch from clock_timestamp() - coalesce(xact_start, backend_start))::bigint as seconds
from pg_stat_activity
where backend_xmin is not null and pid <> pg_backend_pid() and (datname = current_database() or datname is null)
  and backend_type in ('client backend', 'walsender')
union all
select 'prepared transaction', gid, age(transaction)::bigint, extract(epoch from clock_timestamp() - prepared)::bigint
from pg_prepared_xacts where database = current_database()
union all
select 'replication slot', slot_name || case when active then '' else ' (nobody uses it)' end,
  age(coalesce(xmin, catalog_xmin))::bigint, null
from pg_replication_slots
where coalesce(xmin, catalog_xmin) is not null and (database is null or database = current_database())
order by 3 desc
