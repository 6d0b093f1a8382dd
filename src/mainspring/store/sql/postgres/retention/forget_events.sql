-- The event rows of jobs that go.
delete from event where job = any(:job::bigint[])
