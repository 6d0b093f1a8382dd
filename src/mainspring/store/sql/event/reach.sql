-- How far so many events reach.
select coalesce(max(seq), :after) as seq, count(*) as events
from (select seq from event where seq > :after and seq <= :bound order by seq limit :limit) as found
