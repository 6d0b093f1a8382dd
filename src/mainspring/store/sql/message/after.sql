-- Messages of a topic behind a number, in order.
select number, at, actor, data from message where topic = :topic and number > :after order by number limit :limit
