-- leaves: leased
-- causes: succeed
delete from lease where job in (select value from json_each(:jobs))
