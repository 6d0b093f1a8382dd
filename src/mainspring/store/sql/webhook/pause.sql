-- Nothing of a webhook is sent until it is resumed; whoever paused it first stays named.
update webhook set paused = :now, paused_by = :actor, reason = :reason where id = :webhook and paused is null
returning name
