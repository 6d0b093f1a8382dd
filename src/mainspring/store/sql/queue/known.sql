-- Every queue that a job or an operator has named, and what is said of it.
select known.name, queue.most, queue.paused_at, queue.paused_by, queue.note
from (select queue as name from lane union select name from queue) as known left join queue on queue.name = known.name
order by known.name
