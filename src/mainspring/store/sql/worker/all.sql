-- Workers, newest first; a silent one is lost.
select worker.id, incarnation, name, host, pid, app, code_hash, version, queues, labels, slots,
  case when beat.state <> 'stopped' and beat.at + beat.lasts < :now then 'lost' else coalesce(beat.state, 'lost') end as state,
  started, coalesce(beat.at, started) as beat_at, (select count(*) from lease where lease.worker = worker.id) as running, pids, tasks
from worker left join beat on beat.worker = worker.id
order by worker.id desc limit :limit
