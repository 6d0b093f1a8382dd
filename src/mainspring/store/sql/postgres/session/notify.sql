-- Hints. They may get lost in a crash, so nobody waits for the disk.
select set_config('synchronous_commit', 'off', true), pg_notify('mainspring', told) from unnest(:told::text[]) as one (told)
