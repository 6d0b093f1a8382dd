-- Queues with a limit, and how many of their jobs run.
select queue.name, queue.most, (select count(*) from lease join lane on lane.id = lease.lane where lane.queue = queue.name) as running
from queue where most is not null
