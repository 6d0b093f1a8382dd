-- Chunks with lines behind a cursor. A chunk goes by the number of its last line.
select seq, attempt, at, stream, level, text from log
where job = :job and seq > :after and (cast(:attempt as bigint) is null or attempt = :attempt)
order by seq limit :limit
