-- Runs in any state, newest first.
select run.id, run.workflow, workflow_version.hash, run.state, run.params, run.result, run.created,
  coalesce(run.finished, (select max(at) from node where node.run = run.id)) as moved, run.finished, run.deadline, run.stop, run.stop_at, run.stop_by, run.parent_job, run.parent_run, run.parent_node,
  run.replay_of, (select max(id) from run as replay where replay.replay_of = run.id) as replayed_by, run.tags, run.version, workflow_version.nodes, run.tick, run.kept
from run join workflow_version on workflow_version.id = run.version
where run.id < :before and run.id >= :floor
  and (cast(:workflow as text) is null or run.workflow = :workflow)
order by run.id desc limit :limit
