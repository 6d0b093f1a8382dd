-- How many jobs of open queues go before one, over the lanes of an app; of each lane so many at most are counted.
select coalesce(sum((select count(*) from (select 1 from ready
    where ready.lane = lane.id and (ready.priority, ready.due, ready.job) < (:priority, :due, :job)
    order by ready.priority, ready.due, ready.job limit :most) as before)), 0) as jobs
from lane where lane.app = :app and lane.queue not in (select name from queue where paused_at is not null)
