-- The run has ended.
delete from errand where run = :run
