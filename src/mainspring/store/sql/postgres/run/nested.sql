-- Nested runs that have ended, and the nodes that they are.
select id, workflow, state, parent_run, parent_node, parent_item from run where id = any(:run::bigint[]) and state is not null
order by id
