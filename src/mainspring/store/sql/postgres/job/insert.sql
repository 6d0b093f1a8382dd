-- Birth of jobs; their place rows go in with them. Arrays side by side in the list cost less than as one source of rows.
insert into job (id, task, lane, priority, policy, due, created, expires, parent, replay_of, tags, meta, params,
  uniqueness, tick, run, node, item, wants)
select unnest(:id::bigint[]), unnest(:task::text[]), unnest(:lane::bigint[]), unnest(:priority::bigint[]),
  unnest(:policy::bigint[]), unnest(:due::bigint[]), unnest(:created::bigint[]), unnest(:expires::bigint[]),
  unnest(:parent::bigint[]), unnest(:replay_of::bigint[]), unnest(:tags::text[]), unnest(:meta::text[]), unnest(:params::text[]),
  unnest(:uniqueness::text[]), unnest(:tick::text[]), unnest(:run::bigint[]), unnest(:node::bigint[]), unnest(:item::bigint[]),
  unnest(:wants::text[])
