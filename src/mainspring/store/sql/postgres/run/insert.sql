-- Runs that begin.
insert into run (id, workflow, version, params, created, on_failure, parallel, deadline, parent_job, parent_run, parent_node, parent_item, replay_of, tags, tick, kept, inline)
select * from unnest(:id::bigint[], :workflow::text[], :version::bigint[], :params::text[], :created::bigint[], :on_failure::text[], :parallel::bigint[], :deadline::bigint[], :parent_job::bigint[], :parent_run::bigint[], :parent_node::bigint[], :parent_item::bigint[], :replay_of::bigint[], :tags::text[], :tick::text[], :kept::bigint[], :inline::bigint[])
