-- A tick was decided, by what is still said of the schedule; the schedule where that is so.
update next_tick set at = :at, nominal = :nominal, last = :last, last_fired = :last_fired, last_succeeded = :last_succeeded,
  fired = :fired, failures = :failures
where schedule = :schedule and version = :version
returning schedule
