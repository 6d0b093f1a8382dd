-- Needs of a node have ended: open is how many are left where these are the first.
insert into node_waiting (run, number, open, succeeded, failed, skipped) values (:run, :number, :open, :succeeded, :failed, :skipped)
on conflict (run, number) do update set
  open = node_waiting.open - excluded.succeeded - excluded.failed - excluded.skipped, succeeded = node_waiting.succeeded + excluded.succeeded,
  failed = node_waiting.failed + excluded.failed, skipped = node_waiting.skipped + excluded.skipped
returning run, number, open, succeeded, failed, skipped
