-- The first jobs of one lane from a mark on that nobody else is taking just now, held until this transaction ends.
select lane, priority, due, job from ready
where lane = :lane and (priority, due, job) >= (:from_priority, :from_due, :from_job)
order by priority, due, job limit :limit for update skip locked
