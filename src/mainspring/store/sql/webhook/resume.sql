-- A webhook goes on, behind this event or message.
update webhook set paused = null, paused_by = null, reason = null, cursor = :cursor where id = :webhook and removed is null
