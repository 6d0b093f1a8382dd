-- Jobs take unique keys that nobody has; where somebody has one, nothing happens, and nothing of his is locked.
insert into unique_key (task, key, job, until_claim, until)
select * from unnest(:task::text[], :key::text[], :job::bigint[], :until_claim::bigint[], :until::bigint[])
on conflict do nothing returning task, key
