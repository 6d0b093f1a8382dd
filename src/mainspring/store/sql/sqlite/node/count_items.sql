-- Items of a map have ended.
update node set succeeded = succeeded + :succeeded, failed = failed + :failed, cancelled = cancelled + :cancelled
where run = :run and number = :number and state = 'active' returning node.run, node.number, node.items, node.begun, node.succeeded, node.failed, node.cancelled
