-- Up to where history is complete: writers that are still under way keep a lock on what was the last number when they
-- began, so theirs are above it. Asked before the events themselves are, as their snapshot must be the later one.
select coalesce(
  (select min(last_value - ((last_value - objid::bigint) & 4294967295)) from pg_locks
   where locktype = 'advisory' and classid::bigint = :space & 4294967295 and objsubid = 2
     and database = (select oid from pg_database where datname = current_database())),
  case when is_called then last_value else 0 end) as seq
from event_seq
