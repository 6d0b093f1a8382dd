-- Nodes of a version; those that another brought at the same time stay.
insert into workflow_node (version, number, name, needs, early, may_fail, document, inputs)
values (:version, :number, :name, :needs, :early, :may_fail, :document, :inputs)
on conflict do nothing
