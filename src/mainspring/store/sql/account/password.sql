-- What is kept of a password.
select id, password from account where name = :name and removed is null
