-- Whether anybody answers.
select 1 as alive
