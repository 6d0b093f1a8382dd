-- How far down so many jobs that ended in one state reach.
select min(id) as floor, count(*) as jobs
from (select id from job where state = :state and id < :before order by id desc limit :stride) as walked
