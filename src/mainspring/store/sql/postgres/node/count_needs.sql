-- Needs of nodes have ended: open is how many are left where these are the first. In the order of their keys.
insert into node_waiting (run, number, open, succeeded, failed, skipped)
select * from unnest(:run::bigint[], :number::bigint[], :open::bigint[], :succeeded::bigint[], :failed::bigint[], :skipped::bigint[]) as one (run, number, open, succeeded, failed, skipped) order by 1, 2
on conflict (run, number) do update set
  open = node_waiting.open - excluded.succeeded - excluded.failed - excluded.skipped, succeeded = node_waiting.succeeded + excluded.succeeded,
  failed = node_waiting.failed + excluded.failed, skipped = node_waiting.skipped + excluded.skipped
returning run, number, open, succeeded, failed, skipped
