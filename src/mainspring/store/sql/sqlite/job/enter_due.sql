-- enters: due
-- causes: schedule, retry
insert into due (job, at, state, lane, priority, attempt, since)
values (:job, :at, :state, :lane, :priority, :attempt, :since)
