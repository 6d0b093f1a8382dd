-- Numbers for so many messages of a topic; others who publish there wait until we have committed.
insert into topic (name, last) values (:topic, :count)
on conflict (name) do update set last = topic.last + :count
returning last
