-- How far down so many runs reach.
select min(id) as floor, count(*) as runs
from (select id from run where id < :before order by id desc limit :stride) as walked
