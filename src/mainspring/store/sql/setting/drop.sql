-- A layer says nothing more of a key.
delete from setting where name = :name and layer = :layer
