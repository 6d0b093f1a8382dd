-- Somebody changed something.
insert into trail (at, actor, action, subject, before, after)
values (:now, :actor, :action, :subject, :before, :after)
