-- A worker's heartbeat, one narrow row.
insert into beat (worker, at, lasts, state) values (:worker, :now, :lasts, :state)
on conflict (worker) do update set at = excluded.at, lasts = excluded.lasts, state = excluded.state
