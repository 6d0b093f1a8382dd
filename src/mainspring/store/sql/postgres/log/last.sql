-- The number of the last line of each of these jobs.
select value::bigint as job, coalesce((select max(seq) from log where log.job = value::bigint), 0) as seq
from json_array_elements_text(:jobs::json)
