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
  (select cursor from reader where name = :reader) as counted
