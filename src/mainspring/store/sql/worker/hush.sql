-- The heartbeats of workers that have ended, unless they have spoken since that was written down.
delete from beat where exists (select 1 from worker where worker.id = beat.worker and worker.gone_at = beat.at)
  and (state = 'stopped' or at + lasts < :silent)
