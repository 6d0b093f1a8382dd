-- A webhook has a new secret; the one before is good for a while yet.
update webhook set old_secret = secret, old_until = :until, secret = :secret where id = :webhook
