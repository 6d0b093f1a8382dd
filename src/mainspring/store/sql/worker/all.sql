-- Workers, newest first; a silent one is lost.
select worker.id, incarnation, name, host, pid, app, code_hash, version, queues, labels, slots,
  case when beat.state <> 'stopped' and beat.at + beat.lasts < :now then 'lost'
    when beat.state <> 'stopped' and drain_at is not null then 'draining' else coalesce(beat.state, 'lost') end as state,
  started, coalesce(beat.at, started) as beat_at, (select count(*) from lease where lease.worker = worker.id) as running, pids, tasks,
  code_hash <> (select generation.code_hash from generation where generation.app = worker.app order by number desc limit 1)
    as outdated
from worker left join beat on beat.worker = worker.id
order by worker.id desc limit :limit
