-- Edges of a version.
insert into workflow_edge (version, source, target)
values (:version, :source, :target)
on conflict do nothing
