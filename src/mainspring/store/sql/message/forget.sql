-- Messages that are old enough, unless somebody has not taken them yet.
delete from message where at < :before and not exists (
  select 1 from subscription where subscription.topic = message.topic and subscription.cursor < message.number)
