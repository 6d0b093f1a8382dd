-- Jobs that this one submitted, and those that these submitted, and so on, that have not ended.
with recursive below (id, state) as (
  select id, state from job where parent = :job
  union all
  select job.id, job.state from below join job on job.parent = below.id
)
select id from below where state is null order by id
