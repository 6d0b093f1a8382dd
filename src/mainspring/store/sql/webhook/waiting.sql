-- Webhooks with deliveries that may be tried now.
select webhook.id from webhook where webhook.removed is null and exists (
  select 1 from delivery where delivery.webhook = webhook.id and delivery.ended is null and delivery.due <= :now
    and (delivery.until is null or delivery.until < :now) and (webhook.paused is null or delivery.urgent = 1))
order by webhook.id
