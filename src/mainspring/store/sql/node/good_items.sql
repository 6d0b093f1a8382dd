-- Items of a map that have succeeded, with the jobs or nested runs that have their results and the runs that these are of.
select item, id as source, run as origin from job where run = :run and node = :number and state = 'succeeded' and item is not null
union all select parent_item, id, parent_run from run
where parent_run = :run and parent_node = :number and state = 'succeeded' and parent_item is not null
union all select item, source, origin from node_part where run = :run and number = :number and again is null
order by 1
