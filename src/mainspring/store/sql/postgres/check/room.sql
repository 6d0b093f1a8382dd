-- Rows in use and rows that vacuum has not cleared yet, by the server's own count.
select relname as what, n_live_tup as live, n_dead_tup as dead
from pg_stat_user_tables where schemaname = current_schema() order by n_dead_tup desc, relname
