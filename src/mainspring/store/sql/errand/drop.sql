-- It is done.
delete from errand where run = :run and kind = :kind and node = :node
