-- enters: ready
-- causes: submit
-- Jobs that were born alike (a list).
insert into ready (job, lane, priority, due, attempt, since)
select one.value, :lane, :priority, :due, :attempt, :since from json_each(:job) as one
