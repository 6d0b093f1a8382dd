-- The table takes everything again.
drop trigger relocated on {table}
