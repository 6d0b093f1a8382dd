-- What happened in stretches of time is added to what is known of them; each is named once.
insert into series (step, at, metric, queue, task, label, bucket, number, total, most)
select * from unnest(:step::bigint[], :at::bigint[], :metric::text[], :queue::text[], :task::text[], :label::text[],
  :bucket::bigint[], :number::bigint[], :total::bigint[], :most::bigint[])
on conflict (step, metric, at, queue, task, label, bucket) do update set number = series.number + excluded.number,
  total = series.total + excluded.total, most = greatest(series.most, excluded.most)
