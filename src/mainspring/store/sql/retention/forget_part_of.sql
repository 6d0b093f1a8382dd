-- A nested run never begins again: all of it is gone.
delete from node_part where again = :again returning item
