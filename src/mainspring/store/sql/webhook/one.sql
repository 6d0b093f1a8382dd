-- A webhook by its name.
select webhook.id, webhook.name, webhook.url, webhook.topic, webhook.kinds, webhook.queue, webhook.task, webhook.cursor, webhook.created,
  webhook.created_by, webhook.paused, webhook.paused_by, webhook.reason, webhook.delivered, webhook.failed,
  (select count(*) from delivery where delivery.webhook = webhook.id and delivery.ended is null) as pending,
  webhook.reached, webhook.trouble
from webhook where webhook.name = :name and webhook.removed is null
