-- The output of jobs that go.
delete from log where job = any(:job::bigint[])
