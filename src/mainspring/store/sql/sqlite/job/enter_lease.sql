-- enters: leased
-- causes: claim
insert into lease (job, claim, attempt, worker, until, since, lane, priority)
values (:job, :claim, :attempt, :worker, :until, :since, :lane, :priority)
