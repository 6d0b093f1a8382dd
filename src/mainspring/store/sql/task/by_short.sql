-- Tasks that share a short name.
select name from task where short = :short order by name
