-- Nodes whose counts are not how their needs have ended. A run with errands is on its way, so it is not asked.
select run, number from (
  select node_waiting.run, node_waiting.number, node_waiting.open, node_waiting.succeeded, node_waiting.failed, node_waiting.skipped,
    sum(case when need.state is null or need.state = 'active' then 1 else 0 end) as to_come,
    sum(case when need.state = 'succeeded' then 1 else 0 end) as good,
    sum(case when need.state in ('failed', 'cancelled') or need.reason = 'upstream_failed' then 1 else 0 end) as bad,
    sum(case when need.state = 'skipped' and need.reason <> 'upstream_failed' then 1 else 0 end) as passed
  from node_waiting join run on run.id = node_waiting.run and run.state is null
  join workflow_edge on workflow_edge.version = run.version and workflow_edge.target = node_waiting.number
  left join node as need on need.run = run.id and need.number = workflow_edge.source
  where not exists (select 1 from errand where errand.run = run.id and errand.kind in ('tell', 'kept'))
  group by node_waiting.run, node_waiting.number, node_waiting.open, node_waiting.succeeded, node_waiting.failed, node_waiting.skipped
) as counted
where open <> to_come or succeeded <> good or failed <> bad or skipped <> passed order by run, number
