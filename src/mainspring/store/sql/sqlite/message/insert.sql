-- A message of a topic.
insert into message (topic, number, at, actor, data) values (:topic, :number, :at, :actor, :data)
