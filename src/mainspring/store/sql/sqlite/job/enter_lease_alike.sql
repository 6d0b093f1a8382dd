-- enters: leased
-- causes: claim
-- Jobs that are alike but for their claims (an object: job, claim).
insert into lease (job, claim, attempt, worker, until, since, lane, priority)
select cast(one.key as integer), one.value, :attempt, :worker, :until, :since, :lane, :priority from json_each(:job) as one
