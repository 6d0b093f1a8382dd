-- The first jobs of one lane that nobody else is taking just now.
select job, priority, due from ready where lane = :lane order by priority, due, job limit :limit for update skip locked
