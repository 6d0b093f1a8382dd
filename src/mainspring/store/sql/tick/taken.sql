-- Ticks of a schedule in a range that have fired or wait to.
select nominal from tick
where schedule = :schedule and nominal >= :first and nominal <= :last and outcome in ('fired', 'waiting') and origin <> 'trigger'
