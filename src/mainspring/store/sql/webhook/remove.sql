-- A webhook goes; its row follows when its deliveries are tidied up.
update webhook set removed = :now, secret = '', old_secret = null where id = :webhook
