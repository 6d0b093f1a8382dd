-- The attempt rows of jobs that go.
delete from attempt where job = any(:job::bigint[])
