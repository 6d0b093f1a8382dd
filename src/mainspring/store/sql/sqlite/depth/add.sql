-- So many more jobs, or fewer, are in this state.
insert into depth (lane, task, state, jobs) values (:lane, :task, :state, :jobs)
on conflict (lane, task, state) do update set jobs = depth.jobs + excluded.jobs
