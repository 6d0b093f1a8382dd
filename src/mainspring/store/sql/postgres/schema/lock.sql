-- One at a time may change the tables.
select pg_advisory_xact_lock(:space::int, 0)
