-- Runs that a job has started, or jobs that it submitted, and so on, that have not ended.
with recursive tree (id) as (
  select cast(:job as bigint)
  union all
  select job.id from tree join job on job.parent = tree.id
)
select run.id from tree join run on run.parent_job = tree.id where run.state is null and run.stop is null order by run.id
