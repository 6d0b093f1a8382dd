-- Regular ticks of a schedule that are recorded, from the record that may reach behind an instant on.
select nominal, last, outcome from tick
where schedule = :schedule and origin = 'regular' and nominal >= coalesce((
  select max(nominal) from tick where schedule = :schedule and origin = 'regular' and nominal <= :after), :after)
order by nominal
