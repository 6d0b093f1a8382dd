-- What is configured for everybody: what people have set, and what a server's file says of queues. The limit of a queue
-- stands in its own row as well, where claims look.

create table setting (
  name text not null,             -- lease, queue.mail.limit, worker.alpha.slots
  layer text not null,            -- file or store; the latter wins
  value text not null,            -- JSON
  changed bigint not null,
  changed_by text not null,
  primary key (name, layer)
);

insert into setting (name, layer, value, changed, changed_by)
select 'queue.' || name || '.limit', 'store', cast(most as text), 0, 'upgrade' from queue where most is not null;
