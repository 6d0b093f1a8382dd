-- What holds until the end of the transaction, as behind a pooler nothing may stay on the session; since when this server
-- runs; the number of the transaction; the time. A plan is made once for a session, and one that was made while a table was
-- small must not read all of it when it is large: rows are found by an index, in its order. A bitmap has none: to sort the
-- few rows that there were costs nothing, to sort a million for a claim of ten takes a second.
select set_config('search_path', :path, true), set_config('statement_timeout', :statement_timeout, true),
  set_config('lock_timeout', :lock_timeout, true), set_config('idle_in_transaction_session_timeout', :idle_timeout, true),
  set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
  set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
  set_config('synchronous_commit', case when :durable then current_setting('synchronous_commit') else 'off' end, true),
  extract(epoch from pg_postmaster_start_time())::text as started, pg_current_xact_id()::text as number, (extract(epoch from transaction_timestamp()) * 1000000)::bigint as now
