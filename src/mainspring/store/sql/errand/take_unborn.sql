-- The rows of a run that is about to begin are its own from now on; none where they are being cleared away.
delete from errand where run = :run and kind = 'unborn' and weight is null returning run
