-- Nodes of a version; those that another brought at the same time stay.
insert into workflow_node (version, number, name, needs, early, may_fail, document, inputs)
select * from unnest(:version::bigint[], :number::bigint[], :name::text[], :needs::bigint[], :early::bigint[], :may_fail::bigint[], :document::text[], :inputs::text[])
on conflict do nothing
