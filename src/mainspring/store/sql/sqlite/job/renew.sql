-- An owner keeps its lease, also an expired one that nobody took. It may be shortened: after the clock was set back, a
-- deadline of the time before would keep the job from others for as long as the clock had been ahead.
update lease set until = :until where job = :job and claim = :claim returning job
