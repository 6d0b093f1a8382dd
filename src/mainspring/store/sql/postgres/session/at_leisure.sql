-- For this transaction: it may take as long as it takes, and wait for whoever reads its answer.
select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)
