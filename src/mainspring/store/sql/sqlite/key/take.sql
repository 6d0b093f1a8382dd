-- A job takes a unique key that nobody has; where somebody has it, nothing happens.
insert into unique_key (task, key, job, until_claim, until) values (:task, :key, :job, :until_claim, :until)
on conflict do nothing returning task, key
