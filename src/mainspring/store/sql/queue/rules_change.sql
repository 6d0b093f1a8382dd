-- The rules of queues are others from now on.
insert into counter (name, next) values ('rules', 1) on conflict (name) do update set next = counter.next + 1
