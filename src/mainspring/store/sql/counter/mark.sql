-- The smallest real write there is: says when it was last tried whether the store takes writes.
insert into counter (name, next) values ('mark', :now) on conflict (name) do update set next = excluded.next
