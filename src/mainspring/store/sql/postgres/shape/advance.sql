-- A sequence goes on behind the highest number of its column.
select setval({one}::regclass, max({column})) from {table} having max({column}) is not null
