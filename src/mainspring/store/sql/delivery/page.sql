-- Deliveries of a webhook below a cursor, newest first.
select delivery.id, webhook.name, delivery.seq, delivery.kind, delivery.state, delivery.made, delivery.due, delivery.ended, delivery.log,
  delivery.answer
from delivery join webhook on webhook.id = delivery.webhook
where delivery.webhook = :webhook and delivery.id < :below and (cast(:state as text) is null or delivery.state = :state)
order by delivery.id desc limit :limit
