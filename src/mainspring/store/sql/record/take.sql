-- Numbers for so many records; others who write some wait until we have committed. The first go behind what a move brought.
insert into counter (name, next) values ('record', (select coalesce(max(seq), 0) from record) + 1 + :count)
on conflict (name) do update set next = counter.next + :count
returning next
