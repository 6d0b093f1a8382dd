-- How many slots of each worker are taken.
select lease.worker, sum(lane.slots) as slots from lease join lane on lane.id = lease.lane group by lease.worker
