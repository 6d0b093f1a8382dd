-- A subscription goes.
delete from subscription where name = :name returning name
