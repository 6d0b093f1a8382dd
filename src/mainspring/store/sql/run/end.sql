-- The end of a run.
update run set state = :state, finished = :now, result = :result where id = :run and state is null returning id
