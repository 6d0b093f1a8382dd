-- How many jobs of a queue run.
select count(*) as jobs from lease join lane on lane.id = lease.lane where lane.queue = :queue
