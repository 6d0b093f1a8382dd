-- Holders of keys behind a job, and whether each is done with its key for good.
select held.job, job.id is null or job.state is not null as spent
from (select job from unique_key where job > :after order by job limit :limit) as held
left join job on job.id = held.job order by held.job
