-- What is to come of a schedule that was changed: what schedulers have decided of it meanwhile changes nothing.
update next_tick set version = version + 1, at = :at, nominal = :nominal, last = :last, fired = :fired, failures = :failures
where schedule = :schedule
