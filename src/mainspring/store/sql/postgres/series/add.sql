-- What happened in stretches of time is added to what is known of them; each is named once.
insert into series (step, at, metric, queue, task, label, bucket, number, total, most)
select (value ->> 0)::bigint, (value ->> 1)::bigint, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
  (value ->> 6)::bigint, (value ->> 7)::bigint, (value ->> 8)::bigint, (value ->> 9)::bigint
from json_array_elements(:points::json) as point (value)
on conflict (step, metric, at, queue, task, label, bucket) do update set number = series.number + excluded.number,
  total = series.total + excluded.total, most = greatest(series.most, excluded.most)
