-- How far down so many runs that ended in one state reach. State and number are compared as one, so that their index serves.
select min(id) as floor, count(*) as runs
from (
  select id from run where state is not null and (state, id) < (:state, :before) and (state, id) >= (:state, 0)
  order by state desc, id desc limit :stride
) as walked
