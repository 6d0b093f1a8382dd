-- The code of a task in a code of its app.
insert into task_code (app, code_hash, task, own) values (:app, :code_hash, :task, :own)
on conflict (app, code_hash, task) do update set own = excluded.own
