-- A user has signed in.
update account set used = :now where id = :account
