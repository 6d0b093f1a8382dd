-- How far down so many queued jobs reach.
select min(job) as floor, count(*) as jobs
from (select job from ready where job < :before order by job desc limit :stride) as walked
