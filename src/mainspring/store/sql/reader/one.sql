-- How far a reader is.
select cursor from reader where name = :name
