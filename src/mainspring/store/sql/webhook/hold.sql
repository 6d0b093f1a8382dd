-- Whoever takes deliveries of a webhook does it alone.
update webhook set taken = :now where id = :webhook and removed is null
returning url, secret, case when old_until > :now then old_secret end as old_secret, paused
