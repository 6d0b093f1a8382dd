-- Jobs and runs of ticks of these schedules whose ends were not noted, with how they ended, if they have. A number is of
-- one or the other; a run that has failed counts as a job that is dead. Each is looked up by its key, whatever the server
-- supposes of a table that was empty when it looked.
select flight.schedule, flight.job, flight.nominal, flight.origin,
  coalesce(job.state, case when run.state = 'failed' then 'dead' else run.state end) as state,
  job.id is null and run.id is null as gone, run.id is not null as is_run
from unnest(translate(:schedules, '[]', '{}')::bigint[]) as one (schedule)
cross join lateral (select * from flight where schedule = one.schedule offset 0) as flight
left join lateral (select id, state from job where id = flight.job limit 1) as job on true
left join lateral (select id, state from run where id = flight.job limit 1) as run on true
order by flight.job
