-- Something is still to be done for a run.
insert into errand (run, kind, node, at, after, weight)
select * from unnest(:run::bigint[], :kind::text[], :node::bigint[], :at::bigint[], :after::bigint[], :weight::text[])
on conflict (run, kind, node) do update set at = excluded.at, after = excluded.after, weight = excluded.weight
