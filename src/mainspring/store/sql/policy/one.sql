-- A policy by its number.
select document from policy where id = :policy
