-- The job of a tick.
insert into flight (job, schedule, nominal, origin) values (:job, :schedule, :nominal, :origin)
