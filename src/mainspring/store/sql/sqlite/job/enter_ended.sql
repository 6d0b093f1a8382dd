-- enters: ended
-- causes: succeed, exhaust, cancel, expire
update job set state = :state, attempt = :attempt, started = :started, finished = :finished, worker = :worker,
  result = :result, failure = :failure
where id = :id
