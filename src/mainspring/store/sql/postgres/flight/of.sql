-- Jobs and runs of ticks of these schedules whose ends were not noted, with how they ended, if they have. A number is of
-- one or the other; a run that has failed counts as a job that is dead.
select flight.schedule, flight.job, flight.nominal, flight.origin,
  coalesce(job.state, case when run.state = 'failed' then 'dead' else run.state end) as state,
  job.id is null and run.id is null as gone, run.id is not null as is_run
from flight left join job on job.id = flight.job left join run on run.id = flight.job
where flight.schedule = any(translate(:schedules, '[]', '{}')::bigint[])
order by flight.job
