-- Records that are old, or more than so many, at most so many at once.
delete from record where seq in (
  select seq from record where at < :before
  union all select seq from record where seq < (select max(seq) from record) - :kept
  limit :most)
returning seq
