-- What a run was started with.
select params from run where id = :run
