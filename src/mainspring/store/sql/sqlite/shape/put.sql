-- A row as it was elsewhere; one that is here already, since a kill came between it and its mark, stays.
insert into {table} ({columns}) values ({places}) on conflict do nothing
