-- Nodes of a run whose tasks have other code now than when their jobs were last tried; what is inside nested runs counts to
-- the node that these are. Of code of before there was a record of each task, that of the app is compared.
with recursive held (run, node, top) as (
  select coalesce(node.origin, node.run), coalesce(node.origin_node, node.number), node.number from node where node.run = :run
  union all
  select coalesce(node.origin, node.run), coalesce(node.origin_node, node.number), held.top from held
  join run as nested on nested.parent_run = held.run and nested.parent_node = held.node join node on node.run = nested.id
), tried (node, task, before, now) as (
  select held.top, job.task, coalesce(was.own, worker.code_hash), case when was.own is null then task.code_hash else present.own end
  from held join job on job.run = held.run and job.node = held.node join worker on worker.id = job.worker
  join task on task.name = job.task
  left join task_code as was on was.app = task.app and was.code_hash = worker.code_hash and was.task = job.task
  left join task_code as present on present.app = task.app and present.code_hash = task.code_hash and present.task = task.name
)
select distinct tried.task, tried.before, tried.now, tried.node, workflow_node.name from tried join run on run.id = :run
join workflow_node on workflow_node.version = run.version and workflow_node.number = tried.node
where tried.before <> tried.now order by tried.task, tried.before, tried.node
