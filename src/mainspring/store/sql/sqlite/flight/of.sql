-- Jobs of ticks of these schedules whose ends were not noted, with the state in which they ended, if they have.
select flight.schedule, flight.job, flight.nominal, flight.origin, job.state, job.id is null as gone
from flight left join job on job.id = flight.job
where flight.schedule in (select value from json_each(:schedules))
order by flight.job
