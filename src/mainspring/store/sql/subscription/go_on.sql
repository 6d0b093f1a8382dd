-- A subscription has taken messages, unless another process has taken them for it.
update subscription set cursor = :cursor, made = made + :made, refused = refused + :refused,
  refusal = coalesce(cast(:refusal as text), refusal)
where name = :name and cursor = :before returning name
