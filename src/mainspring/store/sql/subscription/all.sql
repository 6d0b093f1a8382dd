-- Every subscription.
select subscription.name, subscription.topic, subscription.task, subscription.workflow, subscription.params, subscription.cursor,
  subscription.made, subscription.refused, subscription.refusal, subscription.created, subscription.created_by
from subscription order by subscription.name
