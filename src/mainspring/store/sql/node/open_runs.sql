-- Nested runs of a node that did not succeed, the item of a map that each is (-1: the node itself), and the runs that
-- they are of; also those that were to go on, and could not begin.
select coalesce(parent_item, -1) as item, id as source, parent_run as origin from run
where parent_run = :run and parent_node = :number and state in ('failed', 'cancelled')
union all select item, source, origin from node_part
where run = :run and number = :number and again is not null and not exists (select 1 from run where run.id = node_part.again)
order by 1
