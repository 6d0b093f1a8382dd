-- The first jobs of one lane from a mark on. One writes at a time, so there is nobody to hold them against.
select lane, priority, due, job from ready
where lane = :lane and (priority, due, job) >= (:from_priority, :from_due, :from_job)
order by priority, due, job limit :limit
