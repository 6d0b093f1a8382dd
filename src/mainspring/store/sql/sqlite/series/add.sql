-- What happened in stretches of time is added to what is known of them; each is named once.
insert into series (step, at, metric, queue, task, label, bucket, number, total, most)
select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
  value ->> 9
from json_each(:points) where true
on conflict (step, metric, at, queue, task, label, bucket) do update set number = series.number + excluded.number,
  total = series.total + excluded.total, most = max(series.most, excluded.most)
