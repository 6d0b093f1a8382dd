-- enters: ready
-- causes: submit, promote, lose, requeue, release
insert into ready (job, lane, priority, due, attempt, since)
values (:job, :lane, :priority, :due, :attempt, :since)
