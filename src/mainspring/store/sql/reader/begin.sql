-- A reader that begins: the first event is the first that it reads.
insert into reader (name, cursor) values (:name, 0) on conflict (name) do nothing
