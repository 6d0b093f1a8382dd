-- The move is over.
drop table relocation
