-- The same for a look, which has no number.
select set_config('search_path', :path, true), set_config('statement_timeout', :statement_timeout, true),
  set_config('idle_in_transaction_session_timeout', :idle_timeout, true),
  set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
  set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true),
  (extract(epoch from clock_timestamp()) * 1000000)::bigint as now
