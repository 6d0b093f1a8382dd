-- Rows that belong to no job.
select 'ready', job from ready where not exists (select 1 from job where job.id = ready.job)
union all select 'due', job from due where not exists (select 1 from job where job.id = due.job)
union all select 'lease', job from lease where not exists (select 1 from job where job.id = lease.job)
union all select 'expiry', job from expiry where not exists (select 1 from job where job.id = expiry.job)
union all select 'attempt', job from attempt where not exists (select 1 from job where job.id = attempt.job)
union all select 'event', job from event where job > 0 and not exists (select 1 from job where job.id = event.job)
