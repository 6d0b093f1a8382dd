-- Somebody changed something.
insert into trail (at, actor, action, subject, before, after, request)
values (:now, :actor, :action, :subject, :before, :after, :request)
