-- Webhooks that were removed, and have no delivery any more.
delete from webhook where removed is not null
  and not exists (select 1 from delivery where delivery.webhook = webhook.id)
