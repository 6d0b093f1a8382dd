-- Changes of the configuration, newest first, from below a cursor on; also those that were made as changes of a queue.
select seq, at, actor, action, subject, before, after, request from trail
where seq < :below and action in ('config.set', 'config.file', 'queue.change')
order by seq desc limit :limit
