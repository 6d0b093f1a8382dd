-- The expiry rows of jobs that go.
delete from expiry where job = any(:job::bigint[])
