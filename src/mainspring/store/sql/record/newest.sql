-- The newest records, newest first.
select seq, at, process, pid, level, source, message, job, attempt, run, worker, trace, request from record
where level >= :level
  and (cast(:process as text) is null or process = :process) and (cast(:job as bigint) is null or job = :job)
  and (cast(:run as bigint) is null or run = :run) and (cast(:worker as bigint) is null or worker = :worker)
  and (cast(:since as bigint) is null or at >= :since) and (cast(:until as bigint) is null or at < :until)
order by seq desc limit :limit
