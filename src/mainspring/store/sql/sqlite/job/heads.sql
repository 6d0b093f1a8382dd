-- The first jobs of one lane.
select job, priority, due from ready where lane = :lane order by priority, due, job limit :limit
