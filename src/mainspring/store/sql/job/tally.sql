-- What the earlier attempts were charged to.
select charge, count(*) from attempt where job = :job group by charge
