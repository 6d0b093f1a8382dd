-- Whether any loop of a server has something to do: all that they look for, in one statement.
select
  (select next from counter where name = 'rules') as rules,
  (select min(at) from (select min(at) as at from due union all select min(at) as at from errand) as soonest) as due,
  (select min(until) from lease) as lease,
  (select min(at) from expiry) as expiry,
  (select min(at) from next_tick where at is not null) as tick,
  exists (select 1 from tick where outcome = 'waiting') as waiting_ticks,
  exists (select 1 from backfill where ended is null) as backfills,
  exists (
    select 1 from subscription join topic on topic.name = subscription.topic where topic.last > subscription.cursor
  ) as messages,
  (select max(seq) from event) as event,
  (select min(cursor) from reader where name in (:reader, :depths)) as counted,
  (select min(cursor) from webhook where topic is null and paused is null and removed is null) as told,
  exists (
    select 1 from webhook join topic on topic.name = webhook.topic
    where topic.last > webhook.cursor and webhook.paused is null and webhook.removed is null
  ) or exists (
    select 1 from webhook join delivery on delivery.webhook = webhook.id
    where webhook.removed is null and delivery.ended is null and delivery.due <= :now
      and (delivery.until is null or delivery.until < :now) and (webhook.paused is null or delivery.urgent = 1)
  ) as deliveries
