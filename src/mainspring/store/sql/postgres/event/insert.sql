-- Transitions, in the same transaction as their moves.
insert into event (job, at, cause, source, target, attempt, actor, detail)
select unnest(:job::bigint[]), unnest(:at::bigint[]), unnest(:cause::text[]), unnest(:source::text[]), unnest(:target::text[]),
  unnest(:attempt::bigint[]), unnest(:actor::text[]), unnest(:detail::text[])
