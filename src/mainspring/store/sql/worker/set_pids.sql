-- The processes of a worker have changed.
update worker set pids = :pids where id = :worker
