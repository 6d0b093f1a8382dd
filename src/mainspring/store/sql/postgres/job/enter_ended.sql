-- enters: ended
-- causes: succeed, exhaust, cancel, expire
update job set state = one.state, attempt = one.attempt, started = one.started, finished = one.finished,
  worker = one.worker, result = one.result, failure = one.failure
from unnest(:state::text[], :attempt::bigint[], :started::bigint[], :finished::bigint[], :worker::bigint[], :result::text[],
  :failure::text[], :id::bigint[]) as one (state, attempt, started, finished, worker, result, failure, id)
where job.id = one.id
