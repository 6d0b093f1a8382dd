-- Intern a lane.
insert into lane (queue, app, lodging) values (:queue, :app, :lodging) returning id
