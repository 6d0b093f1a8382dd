-- Nobody else changes this schedule, and none of its ticks is decided, until the transaction ends.
update next_tick set version = version where schedule = :schedule
