-- All sessions of a user are over.
delete from signin where account = :account
