-- Backfills that are not done, in the order in which they were asked for.
select id, schedule, first, last, newest_first, again, most, at_once, made, place, created, created_by, ended from backfill where ended is null order by id limit :limit
