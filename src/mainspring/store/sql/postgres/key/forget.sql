-- The keys of jobs that have ended; one that somebody is just taking over is left to him.
delete from unique_key where job in (select job from unique_key where job = any(:job::bigint[]) for update skip locked)
