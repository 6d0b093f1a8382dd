-- A writer begins: what it will number is above what the last number is now. The lock goes with the transaction.
select pg_advisory_xact_lock_shared(
  :space::int, (case when is_called then last_value else 0 end & 4294967295)::bit(32)::int)
from event_seq
