-- Where a webhook sends to, and what it is told of, from now on.
update webhook set url = :url, kinds = :kinds, queue = :queue, task = :task where id = :webhook
