-- One chunk of a job's output.
insert into log (job, seq, attempt, at, stream, level, text) values (:job, :seq, :attempt, :at, :stream, :level, :text)
