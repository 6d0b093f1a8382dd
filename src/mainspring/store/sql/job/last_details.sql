-- The heartbeat details of the latest attempt that left any.
select details from attempt where job = :job and details is not null order by number desc limit 1
