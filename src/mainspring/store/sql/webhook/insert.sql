-- A new webhook.
insert into webhook (name, url, secret, topic, kinds, queue, task, cursor, created, created_by, delivered, failed)
values (:name, :url, :secret, :topic, :kinds, :queue, :task, :cursor, :now, :actor, 0, 0)
on conflict (name) where removed is null do nothing returning id
