-- How far down so many jobs reach.
select min(id) as floor, count(*) as jobs
from (select id from job where id < :before order by id desc limit :stride) as walked
