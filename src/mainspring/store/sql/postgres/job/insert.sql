-- Birth of jobs; their place rows go in with them.
insert into job (id, task, lane, priority, policy, due, created, expires, parent, replay_of, tags, meta, params,
  uniqueness, tick, run, node, item, wants)
select * from unnest(:id::bigint[], :task::text[], :lane::bigint[], :priority::bigint[], :policy::bigint[], :due::bigint[],
  :created::bigint[], :expires::bigint[], :parent::bigint[], :replay_of::bigint[], :tags::text[], :meta::text[], :params::text[],
  :uniqueness::text[], :tick::text[], :run::bigint[], :node::bigint[], :item::bigint[], :wants::text[])
