-- Workers, newest first: all that have a heartbeat, and the newest of those that ended lately. A silent one is lost.
select worker.id, incarnation, name, host, pid, app, code_hash, version, queues, labels, slots,
  case when beat.worker is null then coalesce(gone_as, 'lost')
    when beat.state <> 'stopped' and beat.at + beat.lasts < :now then 'lost'
    when beat.state <> 'stopped' and drain_at is not null then 'draining' else beat.state end as state,
  started, coalesce(beat.at, gone_at, started) as beat_at, coalesce(held.jobs, 0) as running, pids, tasks,
  code_hash <> (select generation.code_hash from generation where generation.app = worker.app order by number desc limit 1)
    as outdated
from worker left join beat on beat.worker = worker.id
left join (select worker, count(*) as jobs from lease group by worker) as held on held.worker = worker.id
where beat.worker is not null or gone_at is null
  or worker.id in (select id from worker where gone_at >= :since order by id desc limit :limit)
order by worker.id desc
