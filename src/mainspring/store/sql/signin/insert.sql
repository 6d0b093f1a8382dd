-- A session begins.
insert into signin (digest, account, created, expires) values (:digest, :account, :now, :expires)
