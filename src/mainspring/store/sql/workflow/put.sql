-- A name stands for this version from now on.
insert into workflow (name, version, changed) values (:name, :version, :now)
on conflict (name) do update set version = excluded.version, changed = excluded.changed where workflow.version <> excluded.version
