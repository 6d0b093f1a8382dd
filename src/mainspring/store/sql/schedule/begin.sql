-- What is to come of a new schedule.
insert into next_tick (schedule, version, at, nominal) values (:schedule, 1, :at, :nominal)
