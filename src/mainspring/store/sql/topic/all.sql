-- Topics, with how many of their messages are kept and when the last one came.
select topic.name, topic.last, (select min(number) from message where message.topic = topic.name) as first,
  (select at from message where message.topic = topic.name and message.number = topic.last) as at
from topic order by topic.name
