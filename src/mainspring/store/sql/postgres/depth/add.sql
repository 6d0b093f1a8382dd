-- So many more jobs, or fewer, are in these states; each is named once.
insert into depth (lane, task, state, jobs)
select * from unnest(:lane::bigint[], :task::text[], :state::text[], :jobs::bigint[])
on conflict (lane, task, state) do update set jobs = depth.jobs + excluded.jobs
