-- Job ids go on behind those that were given elsewhere.
select setval('job_id', {one}, false)
