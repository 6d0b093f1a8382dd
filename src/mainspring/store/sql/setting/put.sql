-- This is what holds for a key in a layer.
insert into setting (name, layer, value, changed, changed_by) values (:name, :layer, :value, :now, :actor)
on conflict (name, layer) do update set value = excluded.value, changed = excluded.changed, changed_by = excluded.changed_by
