-- The first job of each of these lanes from its mark on.
select ready.lane, ready.priority, ready.due, ready.job from json_each(:lanes) cross join ready on ready.job = (
  select job from ready as other
  where other.lane = json_extract(value, '$[0]') and (other.priority, other.due, other.job)
    >= (json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'))
  order by other.priority, other.due, other.job limit 1)
order by ready.priority, ready.due, ready.job
