-- What a lane stands for.
select queue, app, lodging, requires, slots from lane where id = :lane
