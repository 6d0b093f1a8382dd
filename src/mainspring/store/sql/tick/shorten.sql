-- A record that told of ticks which have not come yet tells of the others alone.
update tick set ticks = :ticks, last = :last where schedule = :schedule and nominal = :nominal and origin = 'regular'
