-- Decided ticks that are too old. What is to come of a schedule remembers its last one.
delete from tick where (schedule, nominal, origin) in (
  select schedule, nominal, origin from tick where decided < :before and outcome <> 'waiting' order by decided limit :limit)
returning schedule
