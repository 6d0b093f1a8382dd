-- Jobs that this one submitted and that have not ended.
select id from job where parent = :job and state is null
