-- One transition, in the same transaction as its move.
insert into event (job, at, cause, source, target, attempt, actor, detail)
values (:job, :at, :cause, :source, :target, :attempt, :actor, :detail)
