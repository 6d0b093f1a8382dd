-- Transitions, in the same transaction as their moves.
insert into event (job, at, cause, source, target, attempt, actor, detail)
select * from unnest(:job::bigint[], :at::bigint[], :cause::text[], :source::text[], :target::text[], :attempt::bigint[],
  :actor::text[], :detail::text[])
