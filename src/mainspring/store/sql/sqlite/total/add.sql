-- What happened is added to all that ever did.
insert into total (metric, queue, task, label, bucket, number, total)
values (:metric, :queue, :task, :label, :bucket, :number, :total)
on conflict (metric, queue, task, label, bucket) do update set number = total.number + excluded.number,
  total = total.total + excluded.total
