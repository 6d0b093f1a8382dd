-- What is wrong with the structure of a file, without a look at whether its indexes agree with the tables.
select quick_check as problem from pragma_quick_check where quick_check <> 'ok' limit 20
