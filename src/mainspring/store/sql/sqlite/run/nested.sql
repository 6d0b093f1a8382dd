-- A nested run that has ended, and the node that it is.
select id, workflow, state, parent_run, parent_node, parent_item from run where id = :run and state is not null
