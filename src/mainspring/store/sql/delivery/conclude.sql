-- A try is over: the delivery has ended, or waits for the next. Zero rows: another has it.
update delivery set claim = null, until = null, due = :due, log = :log, answer = :answer, state = :state, ended = :ended
where id = :delivery and claim = :claim and ended is null
returning id
