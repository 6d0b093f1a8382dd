-- Jobs that are in no place or in several.
select id, places from (
  select job.id, cast(job.state is not null as integer) + cast(ready.job is not null as integer)
    + cast(due.job is not null as integer) + cast(lease.job is not null as integer) as places
  from job left join ready on ready.job = job.id left join due on due.job = job.id left join lease on lease.job = job.id
) as counted
where places <> 1
