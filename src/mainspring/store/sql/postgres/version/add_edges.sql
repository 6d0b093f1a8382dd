-- Edges of a version.
insert into workflow_edge (version, source, target)
select * from unnest(:version::bigint[], :source::bigint[], :target::bigint[])
on conflict do nothing
