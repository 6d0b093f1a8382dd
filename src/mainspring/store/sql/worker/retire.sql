-- Workers that have stopped, or were silent since an instant, and hold no job: when and how they ended is written down.
update worker set gone_at = beat.at, gone_as = case beat.state when 'stopped' then 'stopped' else 'lost' end
from beat
where beat.worker = worker.id and (beat.state = 'stopped' or beat.at + beat.lasts < :silent)
  and not exists (select 1 from lease where lease.worker = worker.id)
