-- What an operator says of a queue.
insert into queue (name, most, paused_at, paused_by, note) values (:queue, :most, :paused_at, :paused_by, :note)
on conflict (name) do update set most = excluded.most, paused_at = excluded.paused_at, paused_by = excluded.paused_by,
  note = excluded.note
