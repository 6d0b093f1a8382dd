-- A tick that waited is decided, where it still waits.
update tick set outcome = :outcome, why = :why, job = :job, run = :run, decided = :decided, decided_by = :decided_by
where schedule = :schedule and nominal = :nominal and origin = :origin and outcome = 'waiting'
