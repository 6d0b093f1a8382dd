-- Runs that begin.
insert into run (id, workflow, version, params, created, on_failure, parallel, deadline, parent_job, parent_run, parent_node, parent_item, replay_of, tags, tick, kept, inline)
values (:id, :workflow, :version, :params, :created, :on_failure, :parallel, :deadline, :parent_job, :parent_run, :parent_node, :parent_item, :replay_of, :tags, :tick, :kept, :inline)
