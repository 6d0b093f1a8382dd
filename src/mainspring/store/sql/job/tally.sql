-- What the earlier attempts were charged to.
select charge, count(*) as attempts from attempt where job = :job group by charge
