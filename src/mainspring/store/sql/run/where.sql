-- Where a run stands.
select state, stop, version, workflow from run where id = :run
