-- One delivery of a webhook.
select delivery.id, webhook.name, delivery.seq, delivery.kind, delivery.state, delivery.made, delivery.due, delivery.ended, delivery.log,
  delivery.answer
from delivery join webhook on webhook.id = delivery.webhook
where delivery.webhook = :webhook and delivery.id = :delivery
