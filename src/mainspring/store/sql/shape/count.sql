-- How many rows a table has.
select count(*) as found from {table}
