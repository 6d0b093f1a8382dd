-- Jobs that go, last, so that nothing of them is left behind; tells which were still there.
delete from job where id = any(:job::bigint[]) and state is not null returning id, lane, task
