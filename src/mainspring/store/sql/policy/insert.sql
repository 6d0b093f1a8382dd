-- Intern a policy.
insert into policy (document) values (:document) returning id
