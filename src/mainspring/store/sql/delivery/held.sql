-- A delivery that is being tried, by its claim.
select delivery.webhook, delivery.tries, delivery.most, delivery.made, delivery.log, webhook.reached
from delivery join webhook on webhook.id = delivery.webhook
where delivery.id = :delivery and delivery.claim = :claim and delivery.ended is null and webhook.removed is null
