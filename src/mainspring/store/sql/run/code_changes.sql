-- Tasks of a run whose app has other code now than when a job of the run was last tried.
select tried.task, tried.code_hash as before, task.code_hash as now from (
  select job.task, max(worker.code_hash) as code_hash from job join worker on worker.id = job.worker where job.run = :run group by job.task
) as tried join task on task.name = tried.task where task.code_hash <> tried.code_hash order by tried.task
