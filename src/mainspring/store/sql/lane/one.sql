-- What a lane stands for.
select queue, app, lodging from lane where id = :lane
