-- Deliveries of events or messages.
insert into delivery (webhook, seq, kind, body, made, most, urgent, tries, due, log, state)
select webhook, seq, kind, body, made, most, 0, 0, made, '[]', 'pending'
from unnest(:webhook::bigint[], :seq::bigint[], :kind::text[], :body::text[], :made::bigint[], :most::bigint[])
  as one (webhook, seq, kind, body, made, most)
