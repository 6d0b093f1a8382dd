-- The first jobs of one lane whose task this worker knows; needed only while versions of an app differ.
select ready.lane, ready.priority, ready.due, ready.job from ready cross join job on job.id = ready.job
where ready.lane = :lane and job.task in (select value from json_each(:tasks))
order by ready.priority, ready.due, ready.job limit :limit
