-- What happened in a stretch of time is added to what is known of it.
insert into series (step, at, metric, queue, task, label, bucket, number, total, most)
values (:step, :at, :metric, :queue, :task, :label, :bucket, :number, :total, :most)
on conflict (step, metric, at, queue, task, label, bucket) do update set number = series.number + excluded.number,
  total = series.total + excluded.total, most = max(series.most, excluded.most)
