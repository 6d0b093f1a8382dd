-- Maps of tasks whose counts are not how their jobs have ended; items that could not begin have none, and of those that
-- need not be done again an older run has them.
select run, number from (
  select node.run, node.number, node.items, node.begun, node.succeeded, node.failed, node.cancelled,
    sum(case when job.state = 'succeeded' then 1 else 0 end) as good, sum(case when job.state = 'dead' then 1 else 0 end) as bad,
    (select count(*) from node_part where node_part.run = node.run and node_part.number = node.number and node_part.again is null
      and node_part.item < node.begun) as parts
  from node join job on job.run = node.run and job.node = node.number
  where node.items is not null and node.origin is null
  group by node.run, node.number, node.items, node.begun, node.succeeded, node.failed, node.cancelled
) as counted
where succeeded <> good + parts or failed < bad or succeeded + failed + cancelled > items or begun > items order by run, number
