-- A schedule of a new name.
insert into schedule (name, origin, app, generation, declaration, created, changed)
values (:name, :origin, :app, :generation, :declaration, :now, :now)
returning id
