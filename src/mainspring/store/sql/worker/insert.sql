-- A worker says hello; again when it does not know whether it was heard.
insert into worker (incarnation, name, host, pid, app, code_hash, version, queues, labels, slots, tasks, pids, started)
values (:incarnation, :name, :host, :pid, :app, :code_hash, :version, :queues, :labels, :slots, :tasks, :pids, :started)
on conflict (incarnation) do update set pids = excluded.pids
returning id
