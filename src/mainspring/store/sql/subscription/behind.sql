-- Subscriptions with messages that they have not taken.
select subscription.name, subscription.topic, subscription.task, subscription.workflow, subscription.params, subscription.cursor,
  subscription.made, subscription.refused, subscription.refusal, subscription.created, subscription.created_by
from subscription join topic on topic.name = subscription.topic
where topic.last > subscription.cursor order by subscription.name limit :limit
