-- Before replacements: who comes second waits here, and then finds what the first has made.
select unique_key.key from unnest(:task::text[], :key::text[]) as one (task, key)
join unique_key on unique_key.task = one.task and unique_key.key = one.key
order by unique_key.task, unique_key.key for update of unique_key
