-- The same transition of many jobs (a list), in the same transaction as their moves.
insert into event (job, at, cause, source, target, attempt, actor, detail)
select one.value, :at, :cause, :source, :target, :attempt, :actor, :detail from json_each(:job) as one
