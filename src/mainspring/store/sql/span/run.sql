-- Where a run comes from.
select run.parent_job, run.parent_run, run.created, run.tags from run where run.id = :run
