-- A reader begins again, by a number that it never had: what others have read for it meanwhile is not taken.
update reader set cursor = (case when cursor < 0 then cursor else 0 end) - 1 where name = :name
