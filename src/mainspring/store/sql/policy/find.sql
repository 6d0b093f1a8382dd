-- The number of a policy.
select id from policy where document = :document
