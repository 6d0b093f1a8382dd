-- How far down so many scheduled or retrying jobs reach.
select min(job) as floor, count(*) as jobs
from (select job from due where job < :before order by job desc limit :stride) as walked
