-- The backfills of a schedule, newest first.
select id, schedule, first, last, newest_first, again, most, at_once, made, place, created, created_by, ended from backfill where schedule = :schedule order by id desc limit :limit
