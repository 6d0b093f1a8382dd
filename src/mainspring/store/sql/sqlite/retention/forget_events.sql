-- The event rows of a job that goes; tells which they were, as what of them is counted goes too.
delete from event where job = :job returning seq, job, source, target
