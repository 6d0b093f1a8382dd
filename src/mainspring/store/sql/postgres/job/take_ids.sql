-- New numbers of jobs.
select nextval('job_id') as id from generate_series(1, :count)
