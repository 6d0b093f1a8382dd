-- A tick was decided, where what is said of the schedule is still the same.
update next_tick set at = :at, nominal = :nominal, last = :last, last_fired = :last_fired, last_succeeded = :last_succeeded,
  fired = :fired, failures = :failures
where schedule = :schedule and version = :version
