-- All that ever happened, counted.
select metric, queue, task, label, bucket, number, total from total
