-- Workers that ended before an instant and have not come back.
delete from worker where gone_at < :before and not exists (select 1 from beat where beat.worker = worker.id)
  and not exists (select 1 from lease where lease.worker = worker.id)
returning id
