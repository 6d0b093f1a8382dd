-- Ticks of the past that are asked for.
insert into backfill (schedule, first, last, newest_first, again, most, at_once, made, created, created_by)
values (:schedule, :first, :last, :newest_first, :again, :most, :at_once, 0, :now, :actor)
returning id
