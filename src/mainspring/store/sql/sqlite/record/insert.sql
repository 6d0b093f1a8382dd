-- A record.
insert into record (seq, at, process, pid, level, source, message, job, attempt, run, worker, trace, request)
values (:seq, :at, :process, :pid, :level, :source, :message, :job, :attempt, :run, :worker, :trace, :request)
