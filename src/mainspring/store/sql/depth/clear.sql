-- Nothing is counted any more.
delete from depth
