-- Deliveries that are tried now, the one that is due first before the others. Whoever takes them holds the webhook.
update delivery set claim = :claim, until = :until, tries = tries + 1 where id in (
  select id from delivery where webhook = :webhook and ended is null and due <= :now and (until is null or until < :now)
    and (urgent = 1 or :paused = 0)
  order by due, id limit :room)
returning id, body
