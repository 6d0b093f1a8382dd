-- Numbers for so many records; others who write some wait until we have committed.
insert into counter (name, next) values ('record', 1 + :count)
on conflict (name) do update set next = counter.next + :count
returning next
