-- Whether a move was begun here.
select count(*) as tables from sqlite_schema where type = 'table' and name = 'relocation'
