-- What happened is added to all that ever did; each is named once.
insert into total (metric, queue, task, label, bucket, number, total)
select * from unnest(:metric::text[], :queue::text[], :task::text[], :label::text[], :bucket::bigint[], :number::bigint[],
  :total::bigint[])
on conflict (metric, queue, task, label, bucket) do update set number = total.number + excluded.number,
  total = total.total + excluded.total
