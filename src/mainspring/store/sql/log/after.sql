-- Chunks that may hold lines behind a cursor.
select seq, attempt, at, stream, level, text from log
where job = :job and (:attempt is null or attempt = :attempt)
  and seq >= coalesce((select max(seq) from log where job = :job and seq <= :after), 0)
order by seq limit :limit
