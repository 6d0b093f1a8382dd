-- A transition of a run, or of a node without a job.
insert into event (job, at, cause, source, target, attempt, actor, detail, run, node)
values (0, :at, :cause, :source, :target, 0, :actor, :detail, :run, :node)
