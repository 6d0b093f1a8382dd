-- Every lane with the rules of its queue; there are few. The last column tells which rules these are.
select id, lane.queue, app, lodging, requires, slots, queue.most, queue.paused_at is not null as paused,
  coalesce((select next from counter where name = 'rules'), 0) as rules
from lane left join queue on queue.name = lane.queue
