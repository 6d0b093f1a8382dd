-- A worker says hello.
insert into worker (incarnation, name, host, pid, app, code_hash, version, queues, labels, slots, tasks, pids, started)
values (:incarnation, :name, :host, :pid, :app, :code_hash, :version, :queues, :labels, :slots, :tasks, :pids, :started)
returning id
