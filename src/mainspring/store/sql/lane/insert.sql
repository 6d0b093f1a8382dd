-- Intern a lane.
insert into lane (queue, app, lodging, requires, slots) values (:queue, :app, :lodging, :requires, :slots) returning id
