-- A run that goes, last, so that nothing of it is left behind.
delete from run where id = :run and state is not null returning id
