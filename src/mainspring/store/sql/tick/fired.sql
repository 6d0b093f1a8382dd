-- Ticks of a schedule in a range that have fired.
select nominal from tick
where schedule = :schedule and nominal >= :first and nominal <= :last and outcome = 'fired' and origin <> 'trigger'
