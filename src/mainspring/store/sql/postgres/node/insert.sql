-- Nodes that leave their place.
insert into node (run, number, state, reason, at, finished, items, begun, late, origin, failure)
select * from unnest(:run::bigint[], :number::bigint[], :state::text[], :reason::text[], :at::bigint[], :finished::bigint[], :items::bigint[], :begun::bigint[], :late::bigint[], :origin::bigint[], :failure::text[])
