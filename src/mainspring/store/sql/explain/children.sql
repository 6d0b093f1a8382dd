-- How many jobs that a job has submitted have not ended; so many at most are counted.
select count(*) as jobs from (select 1 from job where parent = :job and state is null limit :most) as open
