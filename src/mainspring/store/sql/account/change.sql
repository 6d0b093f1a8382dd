-- A user may something else.
update account set role = :role, queues = :queues where id = :account and removed is null
