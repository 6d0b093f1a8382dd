-- What somebody subscribes to; one of this name makes something else from now on, and goes on where it was.
insert into subscription (name, topic, task, workflow, params, cursor, made, refused, created, created_by)
values (:name, :topic, :task, :workflow, :params, :cursor, 0, 0, :now, :actor)
on conflict (name) do update set topic = excluded.topic, task = excluded.task, workflow = excluded.workflow,
  params = excluded.params,
  cursor = case when subscription.topic = excluded.topic then subscription.cursor else excluded.cursor end
