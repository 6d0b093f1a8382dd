-- Remember when a job must have started.
insert into expiry (job, at) values (:job, :at)
