-- Births of jobs that are alike but for their nodes (an object: job, node); their place rows go in with them.
insert into job (id, task, lane, priority, policy, due, created, expires, parent, replay_of, tags, meta, params,
  uniqueness, tick, run, node, item, wants)
select cast(one.key as integer), :task, :lane, :priority, :policy, :due, :created, :expires, :parent, :replay_of, :tags, :meta,
  :params, :uniqueness, :tick, :run, one.value, :item, :wants
from json_each(:id) as one
