-- What became of a tick. Its key is the guard: one that another scheduler has decided is left as it is,
-- and one that was not is told.
insert into tick (schedule, nominal, origin, ticks, last, outcome, why, job, run, decided, decided_by)
values (:schedule, :nominal, :origin, :ticks, :last, :outcome, :why, :job, :run, :decided, :decided_by)
on conflict do nothing returning schedule, nominal, origin
