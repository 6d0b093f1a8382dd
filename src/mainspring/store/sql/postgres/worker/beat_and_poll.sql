-- A heartbeat with all that an idle worker asks, so that both are one statement; see beat and poll.
insert into beat (worker, at, lasts, state) values (:worker, :now, :lasts, :state)
on conflict (worker) do update set at = excluded.at, lasts = excluded.lasts, state = excluded.state
returning
  (select min(at) from (select min(at) as at from due union all select min(at) as at from errand) as soonest) as next_due,
  exists (select 1 from json_array_elements(:lanes::json) as one (mark) where exists (select 1 from ready
    where lane = (mark ->> 0)::bigint
      and (priority, due, job) >= ((mark ->> 1)::bigint, (mark ->> 2)::bigint, (mark ->> 3)::bigint))) as claimable,
  (select coalesce(json_agg(json_build_array(job, claim)), '[]')::text from lease where worker = :worker and cancel_at is not null) as cancels,
  (select coalesce(json_agg(json_build_array(job, claim, until)), '[]')::text from lease where until < :horizon) as expiring,
  (select min(at) from expiry) as next_expiry,
  (select count(*) || '/' || coalesce((select next from counter where name = 'rules'), 0) from lane) as lanes,
  (select coalesce(max(generation), 0) || '/' || count(*) from task where app = :app) as catalog,
  (select drain_by from worker where id = :worker) as drain_by,
  (select coalesce(json_agg(json_build_array(queues, labels, slots) order by worker.id), '[]')::text from beat join worker on worker.id = beat.worker
    where app = :app and worker.id <> :worker and drain_at is null and beat.state = 'active' and beat.at + beat.lasts >= :now)
    as others
