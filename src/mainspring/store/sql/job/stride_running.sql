-- How far down so many running jobs reach.
select min(job) as floor, count(*) as jobs
from (select job from lease where job < :before order by job desc limit :stride) as walked
