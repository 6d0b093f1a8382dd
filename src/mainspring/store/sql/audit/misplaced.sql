-- Jobs that are in no place or in several.
select job.id, (job.state is not null) + (ready.job is not null) + (due.job is not null) + (lease.job is not null)
from job left join ready on ready.job = job.id left join due on due.job = job.id left join lease on lease.job = job.id
where (job.state is not null) + (ready.job is not null) + (due.job is not null) + (lease.job is not null) <> 1
