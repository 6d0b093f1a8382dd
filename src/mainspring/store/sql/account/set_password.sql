-- A user has another password.
update account set password = :password where id = :account and removed is null
