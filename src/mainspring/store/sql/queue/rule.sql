-- What operators have said of a queue.
select most, paused_at, paused_by, note from queue where name = :queue
