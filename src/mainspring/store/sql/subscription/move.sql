-- A subscription goes on from another message.
update subscription set cursor = :cursor where name = :name returning name
