-- The ends of jobs were noted.
delete from flight where job = any(:job::bigint[])
