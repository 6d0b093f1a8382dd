-- A delivery that tells of nothing but itself; it is tried once, at once.
insert into delivery (webhook, kind, body, made, most, urgent, tries, due, log, state)
values (:webhook, :kind, :body, :now, 1, 1, 0, :now, '[]', 'pending')
returning id
