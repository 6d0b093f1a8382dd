-- Where a run stands.
select state, stop, version, workflow, inline from run where id = :run
