-- Before a replacement: here there is but one writer, so nothing need be locked.
select key from unique_key where task = :task and key = :key
