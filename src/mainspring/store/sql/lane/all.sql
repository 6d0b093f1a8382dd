-- Every lane; there are few.
select id, queue, app, lodging from lane
