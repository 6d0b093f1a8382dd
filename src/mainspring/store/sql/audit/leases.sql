-- Who holds what, and until when.
select job, claim, attempt, worker, until, cancel_at from lease order by job
