-- leaves: ready
-- causes: claim
delete from ready where job in (select value from json_each(:jobs))
