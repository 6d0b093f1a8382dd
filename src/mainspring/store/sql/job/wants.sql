-- What the parameters of a job take from its run.
select run, node, item, params, wants from job where id = :job and wants is not null
