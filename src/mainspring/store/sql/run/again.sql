-- What a run that is this one again takes over.
select workflow, version, params, on_failure, parallel, deadline - created as lasts, tags, tick, inline from run where id = :run
