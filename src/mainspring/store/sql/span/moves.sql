-- What a stretch of history says of jobs to who follows traces: ends of attempts, and their own.
select event.seq, event.at, event.target, event.attempt, event.job, job.task, lane.queue, attempt.outcome, attempt.started,
  attempt.ended, worker.name as worker, attempt.failure, job.parent, job.run, job.created, job.tags
from event join job on job.id = event.job join lane on lane.id = job.lane
left join attempt on attempt.job = event.job and attempt.number = event.attempt and event.source = 'running'
left join worker on worker.id = attempt.worker
where event.seq > :after and event.seq <= :until and event.job > 0
  and (event.source = 'running' or event.target in ('succeeded', 'dead', 'cancelled'))
order by event.seq
