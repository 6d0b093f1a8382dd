-- leaves: ready
-- causes: claim
delete from ready where job in (select value::bigint from json_array_elements_text(:jobs::json))
returning job, lane, priority, attempt, since
