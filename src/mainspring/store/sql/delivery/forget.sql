-- Deliveries that ended long ago, and those of webhooks that were removed; so many at once. The newest stays, so that no
-- number is ever given twice: receivers know deliveries by it.
delete from delivery where id in (
  select id from delivery where ended < :before and id < (select max(id) from delivery)
  union all select delivery.id from webhook join delivery on delivery.webhook = webhook.id
    where webhook.removed is not null and delivery.id < (select max(id) from delivery)
  limit :limit)
returning id
