-- When the oldest job that is kept was submitted: no worker that ended before then has tried any.
select created from job order by id limit 1
