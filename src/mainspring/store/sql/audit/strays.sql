-- Rows that belong to no job.
select 'ready', job from ready where job not in (select id from job)
union all select 'due', job from due where job not in (select id from job)
union all select 'lease', job from lease where job not in (select id from job)
union all select 'attempt', job from attempt where job not in (select id from job)
union all select 'event', job from event where job not in (select id from job)
