-- A worker; a silent one is lost.
select worker.id, incarnation, name, host, pid, app, code_hash, version, queues, labels, slots,
  case when beat.worker is null then coalesce(gone_as, 'lost')
    when beat.state <> 'stopped' and beat.at + beat.lasts < :now then 'lost'
    when beat.state <> 'stopped' and drain_at is not null then 'draining' else beat.state end as state,
  started, coalesce(beat.at, gone_at, started) as beat_at, coalesce(held.jobs, 0) as running, pids, tasks,
  code_hash <> (select generation.code_hash from generation where generation.app = worker.app order by number desc limit 1)
    as outdated
from worker left join beat on beat.worker = worker.id
left join (select worker, count(*) as jobs from lease where lease.worker = :worker group by worker) as held on held.worker = worker.id
where worker.id = :worker
