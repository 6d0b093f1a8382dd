-- What is to be done now.
select run, kind, node, after, weight from errand where at <= :now order by at, run limit :limit for update skip locked
