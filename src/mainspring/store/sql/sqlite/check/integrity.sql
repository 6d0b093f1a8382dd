-- What is wrong with the structure of a file.
select integrity_check as problem from pragma_integrity_check where integrity_check <> 'ok' limit 20
