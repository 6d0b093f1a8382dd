-- What is too old to be kept.
delete from series where step = :step and at < :before
