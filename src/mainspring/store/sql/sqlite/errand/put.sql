-- Something is still to be done for a run.
insert into errand (run, kind, node, at, after, weight)
values (:run, :kind, :node, :at, :after, :weight)
on conflict (run, kind, node) do update set at = excluded.at, after = excluded.after, weight = excluded.weight
