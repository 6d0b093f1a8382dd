-- How far down so many runs that have not ended reach.
select min(id) as floor, count(*) as runs
from (select id from run where state is null and id < :before order by id desc limit :stride) as walked
