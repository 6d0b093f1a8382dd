-- The next job id.
select next from counter where name = 'job'
