-- Transitions of runs, and of nodes without a job.
insert into event (job, at, cause, source, target, attempt, actor, detail, run, node)
select 0, one.at, one.cause, one.source, one.target, 0, one.actor, one.detail, one.run, one.node
from unnest(:at::bigint[], :cause::text[], :source::text[], :target::text[], :actor::text[], :detail::text[], :run::bigint[], :node::bigint[])
  as one (at, cause, source, target, actor, detail, run, node)
