-- How far down so many runs that ended in one state reach.
select min(id) as floor, count(*) as runs
from (select id from run where state = :state and id < :before order by id desc limit :stride) as walked
