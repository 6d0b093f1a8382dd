-- The code of tasks in a code of their app.
insert into task_code (app, code_hash, task, own)
select * from unnest(:app::text[], :code_hash::text[], :task::text[], :own::text[]) order by 1, 2, 3
on conflict (app, code_hash, task) do update set own = excluded.own
