-- A commit that waits for the disk as the server is set: whatever was committed before it is on the disk then, too.
select pg_logical_emit_message(true, 'mainspring', '')
