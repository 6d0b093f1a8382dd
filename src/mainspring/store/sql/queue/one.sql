-- A queue, and how many of its jobs are where.
select known.name, queue.most, queue.paused_at, queue.paused_by, queue.note,
  (select count(*) from ready where lane in (select id from lane where queue = known.name)) as queued,
  (select count(*) from due where state = 'scheduled' and lane in (select id from lane where queue = known.name)) as scheduled,
  (select count(*) from due where state = 'retrying' and lane in (select id from lane where queue = known.name)) as retrying,
  (select count(*) from lease where lane in (select id from lane where queue = known.name)) as running
from (select cast(:queue as text) as name) as known left join queue on queue.name = known.name
