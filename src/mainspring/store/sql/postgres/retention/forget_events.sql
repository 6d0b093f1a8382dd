-- The event rows of jobs that go; tells which they were, as what of them is counted goes too.
delete from event where job = any(:job::bigint[]) returning seq, job, source, target
