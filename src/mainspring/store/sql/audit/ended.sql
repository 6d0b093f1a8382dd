-- What the end of a job wrote.
select state, attempt, started, finished, worker, result, failure from job where id = :job
