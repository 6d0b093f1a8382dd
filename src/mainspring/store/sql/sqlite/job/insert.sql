-- Birth of a job; its place row goes in with it.
insert into job (id, task, lane, priority, policy, due, created, expires, parent, replay_of, tags, meta, params,
  uniqueness, tick, run, node, item, wants)
values (:id, :task, :lane, :priority, :policy, :due, :created, :expires, :parent, :replay_of, :tags, :meta, :params,
  :uniqueness, :tick, :run, :node, :item, :wants)
