-- A delivery of an event or a message.
insert into delivery (webhook, seq, kind, body, made, most, urgent, tries, due, log, state)
values (:webhook, :seq, :kind, :body, :made, :most, 0, 0, :made, '[]', 'pending')
